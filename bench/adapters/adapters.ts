/**
 * The cost of reading brokers' messages on one core: each adapter, from a message's text to the core's record, compared with other
 * libraries on the same bytes.
 */

import { parseArgs } from 'node:util'
import { Figures } from '../harness/figures.ts'
import { pin } from '../harness/pinning.ts'
import { median } from '../harness/stats.ts'
import { type Kind, MESSAGE_KINDS, type Reading, type Readings } from './contender.ts'
import type { KindTexts } from './messages.ts'
import { others, PARSERS, WHOLE_WAY } from './others/others.ts'
import { alpacaMessages, alpacaReadings } from './ours/alpaca.ts'
import { tradestationMessages, tradestationReadings } from './ours/tradestation.ts'
import { tradierMessages, tradierReadings } from './ours/tradier.ts'

const ROUNDS = 15
const WARM_MS = 500
const ROUND_MS_LEAST = 50
/** Our rate relative to `ccxt` when that does the work of an adapter: from a message to the caller that waits for it. */
const TARGET = 3

interface Contender {
  readonly name: string
  readonly texts: KindTexts
  readonly readings: Readings
}

export async function adapters(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...options], options: { seconds: { type: 'string', default: '20' } } })
  if (!pin(process.pid, 'others')) process.stdout.write('nothing is pinned to a core: that takes a second one, and taskset\n')
  const ours: readonly Contender[] = [
    { name: 'ALPACA', texts: alpacaMessages(), readings: await alpacaReadings() },
    { name: 'TRADIER', texts: tradierMessages(), readings: await tradierReadings() },
    { name: 'TRADESTATION', texts: tradestationMessages(), readings: await tradestationReadings() }
  ]
  const theirs: readonly Contender[] = (await others()).map(other => ({ ...other, texts: alpacaMessages() }))
  const roundMs = Math.max(ROUND_MS_LEAST, (Number(values.seconds) * 1_000) / ROUNDS / MESSAGE_KINDS.length / (ours.length + theirs.length))
  const figures = new Figures(['Messages a second'])
  for (const kind of MESSAGE_KINDS) {
    const rates = measured([...ours, ...theirs], kind, roundMs)
    const [whole = 0, parsing = 0] = [WHOLE_WAY, PARSERS].map(name => rates.get(name))
    for (const { name } of [...ours, ...theirs]) {
      const rate = rates.get(name) ?? 0
      const isOurs = ours.some(each => each.name === name)
      figures.add('Messages a second', {
        what: `${name}: ${kind}`,
        found: `${Math.round(rate).toLocaleString('en')} (× ${(rate / whole).toFixed(1)}, × ${(rate / parsing).toFixed(1)})`,
        target: isOurs ? `× ${TARGET}` : '',
        reached: isOurs ? rate / whole >= TARGET : null
      })
    }
  }
  process.stdout.write(`\n${figures.table()}`)
}

/** The median rate of each per second of processor time. They run alternately, so that other load on the machine affects all equally. */
function measured(contending: readonly Contender[], kind: Kind, roundMs: number): ReadonlyMap<string, number> {
  const rates = new Map(contending.map(({ name }) => [name, [] as number[]]))
  for (const { name, texts, readings } of contending) perSecond(name, texts[kind], readings[kind], WARM_MS)
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { name, texts, readings } of contending) rates.get(name)?.push(perSecond(name, texts[kind], readings[kind], roundMs))
  return new Map([...rates].map(([name, each]) => [name, median(each)]))
}

/** @throws Error if a message yields no record */
function perSecond(name: string, texts: readonly string[], read: Reading, forMs: number): number {
  const started = performance.now()
  const before = process.cpuUsage()
  let messages = 0
  do {
    for (const text of texts) if (read(text) !== 1) throw new Error(`${name} did not make one record of ${text}`)
    messages += texts.length
  } while (performance.now() - started < forMs)
  const { user, system } = process.cpuUsage(before)
  return (messages * 1_000_000) / (user + system)
}
