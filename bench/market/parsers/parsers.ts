import type { Figure } from '../../harness/figures.ts'
import { median } from '../../harness/stats.ts'
import { type Contender, contenders } from './contenders.ts'
import { messagesFrom } from './messages.ts'

export interface ParsersOptions {
  readonly seconds: number
  readonly recorded: string | null
  readonly record: (figure: Figure) => void
}

const ROUNDS = 5
const WARM_MS = 500
const ROUND_MS_LEAST = 100

/** The adapter's parser compared with other libraries, on the same trades and books: from a message's text to a record, alternately. */
export async function parsers({ seconds, recorded, record }: ParsersOptions): Promise<void> {
  const messages = await messagesFrom(recorded)
  const { trades, books } = await contenders(messages)
  const roundMs = Math.max(ROUND_MS_LEAST, (seconds * 1_000) / ROUNDS / 5)
  for (const [what, contending] of [
    ['Trades', trades],
    ['Books of ten levels', books]
  ] as const) {
    const rates = contending.map(() => [] as number[])
    for (const contender of contending) eventsPerSecond(contender, WARM_MS)
    for (let round = 0; round < ROUNDS; round += 1)
      contending.forEach((contender, index) => void rates[index]?.push(eventsPerSecond(contender, roundMs)))
    const ours = median(rates[0] ?? [])
    contending.forEach(({ name }, index) => {
      const rate = median(rates[index] ?? [])
      const beside = index === 0 ? messages.origin : `× ${(rate / ours).toFixed(2)}`
      record({
        what: `${what} read by ${name}`,
        found: `${Math.round(rate).toLocaleString('en')} /s (${beside})`,
        target: '',
        reached: null
      })
    })
  }
}

/** @throws Error if a message does not yield its events */
function eventsPerSecond({ name, texts, read }: Contender, forMs: number): number {
  const started = performance.now()
  let events = 0
  do {
    for (const text of texts) {
      const found = read(text)
      if (found === 0) throw new Error(`${name} made no record of ${text}`)
      events += found
    }
  } while (performance.now() - started < forMs)
  return (events * 1_000) / (performance.now() - started)
}
