import type { Clock } from '../../ports/clock.ts'
import type { GapCause } from '../../ports/gap.ts'
import type { MarketSource, Topic } from '../../ports/market.ts'
import { Semaphore } from '../semaphore.ts'
import { within } from '../time-limits.ts'
import { MarketRefusal } from './refusal.ts'
import { SharedTopic } from './shared-topic.ts'

/** How long to wait for the broker's first answer. */
const ANSWER_MS = 8_000
/** Topics of a connection that are subscribed at once, bounded so that each is answered in time. */
const JOINS = { atOnce: 16, ms: ANSWER_MS }

interface Entry {
  readonly topic: SharedTopic
  users: number
}

/** The topics of one connection, each streamed once, for as long as it has subscribers. */
export class Topics {
  readonly #source: MarketSource
  readonly #clock: Clock
  readonly #lost: (cause: GapCause) => void
  readonly #entries = new Map<string, Entry>()
  readonly #semaphore: Semaphore<'join'>
  readonly #stopping = new AbortController()

  /** `lost` is called with every loss of a topic. */
  constructor(source: MarketSource, clock: Clock, lost: (cause: GapCause) => void) {
    this.#source = source
    this.#clock = clock
    this.#lost = lost
    this.#semaphore = new Semaphore(clock, JOINS)
  }

  get size(): number {
    return this.#entries.size
  }

  all(): Iterable<SharedTopic> {
    return this.#entries.values().map(({ topic }) => topic)
  }

  /** The topic, streaming; to be released with {@link leave}. @throws MarketRefusal */
  async join(topic: Topic): Promise<SharedTopic> {
    // A topic that is already live takes no slot.
    if (this.#entries.get(keyOf(topic))?.topic.state === 'live') return this.#joined(topic)
    return this.#semaphore.take('join', () => this.#joined(topic), this.#stopping.signal)
  }

  async #joined(topic: Topic): Promise<SharedTopic> {
    const entry = this.#entry(topic)
    entry.users += 1
    try {
      await within(this.#clock, entry.topic.settled(), ANSWER_MS)
      if (entry.topic.state === 'refused') throw new MarketRefusal('unsupported_symbol', entry.topic.refusal)
      if (entry.topic.state === 'live') return entry.topic
      throw new MarketRefusal('broker_unavailable', 'The broker does not answer at the moment; subscribe again in a few seconds.')
    } catch (cause) {
      this.leave(entry.topic)
      throw cause
    }
  }

  leave(topic: SharedTopic): void {
    const key = keyOf(topic.topic)
    const entry = this.#entries.get(key)
    if (entry?.topic !== topic) return
    entry.users -= 1
    if (entry.users > 0) return
    this.#entries.delete(key)
    topic.end()
  }

  end(): void {
    this.#stopping.abort(new MarketRefusal('broker_unavailable', 'The connection was closed just now; subscribe again in a few seconds.'))
    for (const { topic } of this.#entries.values()) topic.end()
    this.#entries.clear()
  }

  #entry(topic: Topic): Entry {
    const key = keyOf(topic)
    const known = this.#entries.get(key)
    if (known !== undefined && known.topic.state !== 'refused') return known
    const owner = { monotonicMs: () => this.#clock.monotonicMs(), lost: (_: SharedTopic, cause: GapCause) => this.#lost(cause) }
    const entry: Entry = { topic: new SharedTopic(topic, this.#source, owner), users: 0 }
    this.#entries.set(key, entry)
    return entry
  }
}

function keyOf(topic: Topic): string {
  switch (topic.channel) {
    case 'bars':
      return `bars ${topic.symbol} ${topic.interval}`
    case 'options_chain':
      return `chain ${topic.symbol} ${topic.expiration}`
    default:
      return `${topic.channel} ${topic.symbol}`
  }
}
