// `npm run simulate`: as many random days of the service as are asked for, or one of them again with every step.
import { parseArgs } from 'node:util'
import { runSeeds } from './run-seeds.ts'
import { ENGINES } from './stores.ts'

const USAGE = `npm run simulate -- --seeds 5000            random days from seed 1 on
npm run simulate -- --seeds 500 --from 9000 from another seed on
npm run simulate -- --seed 4711             one of them, with every step
  --engine postgres|embedded                what the service stores in; postgres where left out`

const print = (text: string) => void process.stdout.write(`${text}\n`)

/** Throws with a sentence for the user when the arguments make no sense. */
function parse(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      engine: { type: 'string', default: 'postgres' }
    }
  })
  const whole = (name: string, text: string) => {
    if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1, was ${text}.`)
    return Number(text)
  }
  const { engine } = values
  if (engine !== 'postgres' && engine !== 'embedded') throw new Error(`--engine must be postgres or embedded, was ${engine}.`)
  const one = values.seed === undefined ? null : whole('seed', values.seed)
  return {
    engine,
    isTraced: one !== null,
    from: one ?? whole('from', values.from),
    count: one === null ? whole('seeds', values.seeds) : 1
  } as const
}

async function main({ engine, isTraced, from, count }: ReturnType<typeof parse>): Promise<boolean> {
  const began = performance.now()
  await using opened = await ENGINES[engine]()
  const options = isTraced ? { listener: print } : {}
  const { results, failures } = await runSeeds(opened.store, { from, count, failuresMax: 10 }, options)
  for (const failure of failures) print(`\n${failure.message}`)
  const met = new Map<string, number>()
  for (const { counts } of results) for (const [name, times] of counts) met.set(name, (met.get(name) ?? 0) + times)
  const sum = (of: 'updates' | 'lastedMs') => results.reduce((total, result) => total + result[of], 0)
  print(
    `\n${[...met]
      .map(([name, times]) => `${name} ${times}`)
      .toSorted()
      .join(' · ')}`
  )
  print(
    `\n${results.length} days went well and ${failures.length} did not, from seed ${from} on: ${Math.round(sum('lastedMs') / 3_600_000)} simulated hours,`
  )
  print(`${sum('updates')} updates, ${((performance.now() - began) / 1_000).toFixed(1)} s on ${engine}.`)
  if (isTraced && results[0] !== undefined) print(`The day’s hash is ${results[0].hash}.`)
  return failures.length === 0
}

try {
  if (process.argv.includes('--help') || process.argv.includes('-h')) print(USAGE)
  else process.exitCode = (await main(parse(process.argv.slice(2)))) ? 0 : 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`)
  process.exitCode = 2
}
