// The command line of `npm run cluster-check`.
import { parseArgs } from 'node:util'
import { DISTURBANCES, unknownOf } from './disturbances.ts'
import { check, type Outcome } from './rounds.ts'

const USERS = 8
const USAGE = `npm run cluster-check -- [--rounds 20] [--seed 1] [--only kill,clock]

Three nodes, PostgreSQL, NATS and the sandbox as programs, with a proxy on every link, and eight users at all brokers.
Each round plays one to three disturbances under load and then compares the brokers, every node's REST, the log of updates
and what each session received. Exits with 1 if anything was lost, repeated or different.
  --rounds  how many; default 20
  --seed    of the choices; by default another one each time. It is printed
  --only    disturbances whose name contains one of these
`
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false }
  }
})
const only = values.only === '' ? [] : values.only.split(',')
const unknown = unknownOf(only)
if (values.help) process.stdout.write(USAGE)
else if (unknown.length > 0) {
  process.stderr.write(`--only: no disturbance is named ${unknown.join(' or ')}; there are: ${DISTURBANCES.join(', ')}\n`)
  process.exitCode = 2
} else {
  const [rounds, seed] = [wholeNumber('--rounds', values.rounds), wholeNumber('--seed', values.seed)]
  const began = performance.now()
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  print(`${rounds} rounds, seed ${seed}`)
  const outcome = await check({ rounds, seed, users: USERS, only, print })
  print(summary(outcome, performance.now() - began))
  process.exitCode = outcome.findings.length === 0 && outcome.rounds === rounds ? 0 : 1
}

function summary({ rounds, notTimed, notJudged, findings, kinds, waitsMs, answers, ends, unproved }: Outcome, ms: number): string {
  const sorted = waitsMs.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
  return [
    `${rounds} rounds in ${Math.round(ms / 1_000)} s, ${findings.length} findings`,
    `rounds in which the machine was too late to judge times: ${notTimed}`,
    `clusters that ended unjudged, as the machine was too late to ask their nodes: ${notJudged}`,
    `disturbances: ${listed(kinds)}`,
    `answers: ${listed(answers)}`,
    `ends of nodes: ${listed(ends)}`,
    `from a kill to the first accepted order: ${sorted.length} users, median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
    `orders without proof at a broker without our ids: ${unproved}`
  ].join('\n')
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0) throw new Error(`${name} must be a whole number, was ${text}`)
  return number
}
