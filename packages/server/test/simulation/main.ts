// `npm run simulate`: as many random days of the service as are asked for, or one of them again with every step.
import { parseArgs } from 'node:util'
import { runSeeds } from './run-seeds.ts'
import { openAlone, openNodes } from './stores.ts'

const USAGE = `npm run simulate -- --seeds 5000            random days from seed 1 on
npm run simulate -- --seeds 500 --from 9000 from another seed on
npm run simulate -- --seed 4711             one of them, with every step
  --nodes 3                                 several nodes instead of one process
  --engine postgres|embedded                what the service stores in; postgres where left out`

/** Days of several nodes have a database each. */
const NODES_AT_ONCE = 4
const NODES_MAX = 5
const SHOWN_EVERY = 100

const print = (text: string) => void process.stdout.write(`${text}\n`)

/** Throws with a sentence for the user when the arguments make no sense. */
function parse(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      nodes: { type: 'string', default: '1' },
      engine: { type: 'string', default: 'postgres' }
    }
  })
  const whole = (name: string, text: string) => {
    if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1, was ${text}.`)
    return Number(text)
  }
  const { engine } = values
  if (engine !== 'postgres' && engine !== 'embedded') throw new Error(`--engine must be postgres or embedded, was ${engine}.`)
  const nodes = whole('nodes', values.nodes)
  if (nodes > NODES_MAX) throw new Error(`--nodes must be at most ${NODES_MAX}, was ${nodes}.`)
  const one = values.seed === undefined ? null : whole('seed', values.seed)
  return {
    engine,
    nodes,
    isTraced: one !== null,
    from: one ?? whole('from', values.from),
    count: one === null ? whole('seeds', values.seeds) : 1
  } as const
}

async function main({ engine, nodes, isTraced, from, count }: ReturnType<typeof parse>): Promise<boolean> {
  const began = performance.now()
  const atOnce = Math.min(count, NODES_AT_ONCE)
  await using alone = nodes === 1 ? await openAlone(engine) : null
  await using several = nodes === 1 ? null : await openNodes(engine, atOnce)
  const grounds = alone?.alone ?? several?.of(nodes)
  if (grounds === undefined) throw new Error('nothing was opened')
  const options = isTraced ? { listener: print } : {}
  let days = 0
  const ended = (failure: Error | null) => {
    days += 1
    if (failure !== null) print(`\n${failure.message}`)
    if (days % SHOWN_EVERY === 0 && days < count) print(`${days} days, ${((performance.now() - began) / 1_000).toFixed(0)} s`)
  }
  const seeds = { from, count, failuresMax: 10, ended, ...(nodes > 1 && { atOnce }) }
  const { results, failures } = await runSeeds(grounds, seeds, options)
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
