/**
 * One expiration's options, published whole at first and then whatever changed: the contracts once, their market repeatedly, and between
 * two polls the quotes of those about the money as they are streamed.
 */

import type { ChainEntry, Quote } from '@trunkline/core/domain/market/records'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { type Backoff, pauseMs } from '../retry.ts'
import { lossOf } from '../stream-fault.ts'
import { Subscription } from '../subscription.ts'
import type { ChainQuery } from './rest-market.ts'

/** From one poll of the market of a chain to the next, where the rate limit allows. */
const LOOK_MS = 5_000
/** Contracts are listed overnight, and new strikes during the day. */
const CONTRACTS_MS = 600_000
const AGAIN: Backoff = { firstMs: 2_000, longestMs: 60_000 }

/** The chains that a login follows; they end with it. */
export class ChainWatches<Contract extends { readonly symbol: string }, Snapshot> implements AsyncDisposable {
  readonly #options: ChainOptions<Contract, Snapshot>
  readonly #watches = new Set<ChainWatch<Contract, Snapshot>>()

  constructor(options: ChainOptions<Contract, Snapshot>) {
    this.#options = options
  }

  stream({ symbol, expiration }: ChainTopic, sink: TopicSink): TopicLease {
    const watch = new ChainWatch(this.#options, { symbol, expiration }, sink)
    this.#watches.add(watch)
    return {
      renew: () => watch.renew(),
      [Symbol.dispose]: () => {
        watch[Symbol.dispose]()
        this.#watches.delete(watch)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#watches].map(watch => watch[Symbol.asyncDispose]()))
  }
}

/** `Contract`: what is listed of an option; `Snapshot`: its market as the broker has it. */
export interface ChainOptions<Contract extends { readonly symbol: string }, Snapshot> {
  /** For messages. */
  readonly broker: string
  /** Contracts about the money whose quotes are streamed. */
  readonly streamedMax: number
  /** @throws BrokerFault */
  readonly contracts: (query: ChainQuery, signal: AbortSignal) => Promise<readonly Contract[]>
  /** The market of each contract that has one, by symbol. @throws BrokerFault */
  readonly snapshots: (query: ChainQuery, signal: AbortSignal) => Promise<ReadonlyMap<string, Snapshot>>
  /** `presentMs`: the market's time, milliseconds since the epoch. @throws Malformed */
  readonly entryOf: (contract: Contract, snapshot: Snapshot | null, presentMs: number) => ChainEntry
  /** The entry with a quote of the stream, unless the snapshot's own is newer. @throws Malformed */
  readonly withQuote: (entry: ChainEntry, quote: Quote, snapshot: Snapshot | null) => ChainEntry
  /** Streams the quotes of a contract. */
  readonly quotes: (symbol: string, sink: TopicSink) => TopicLease
  readonly clock: Clock
  readonly fraction: () => number
  /** The market's time, milliseconds since the epoch. */
  readonly presentMs: () => number
}

type ChainTopic = Pick<Extract<Topic, { readonly channel: 'options_chain' }>, 'symbol' | 'expiration'>

class ChainWatch<Contract extends { readonly symbol: string }, Snapshot> implements TopicLease, AsyncDisposable {
  readonly #options: ChainOptions<Contract, Snapshot>
  readonly #subscription: Subscription<ChainTopic>
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #contracts: ReadonlyMap<string, Contract> = new Map()
  #contractsUntilMs = 0
  #market: ReadonlyMap<string, Snapshot> = new Map()
  readonly #streamed = new Map<string, Disposable>()
  /** The newest streamed quote of each contract, as long as it is streamed. */
  readonly #quotes = new Map<string, Quote>()
  /** What was published of each contract. */
  #published = new Map<string, string>()
  #wake: () => void = () => undefined

  constructor(options: ChainOptions<Contract, Snapshot>, topic: ChainTopic, sink: TopicSink) {
    this.#options = options
    this.#subscription = new Subscription(topic, sink)
    this.#running = this.#run()
  }

  renew(): void {
    if (this.#closing.signal.aborted) return
    if (this.#subscription.isLive) this.#subscription.lost('silence', 'nothing was received for too long, so it was requested again')
    this.#wake()
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('the chain is no longer streamed'))
    for (const symbol of this.#streamed.keys()) this.#giveBack(symbol)
  }

  /** Resolves when no request is pending. */
  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]()
    await this.#running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted; ) {
      let retryAfterMs = 0
      try {
        await this.#look(signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        if (error instanceof BrokerFault && error.kind === 'refused') return this.#subscription.refused(error.message)
        // Rate limited: what is known is late, and not lost.
        if (error instanceof BrokerFault && error.kind === 'rate_limited') retryAfterMs = error.retryAfterMs ?? 0
        else {
          const { cause, reason } = lossOf(error)
          this.#subscription.lost(cause, reason)
        }
      }
      const againMs = failures === 0 ? LOOK_MS : pauseMs(AGAIN, failures - 1, this.#options.fraction)
      await this.#sleep(Math.max(againMs, retryAfterMs), signal)
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { broker, clock, contracts, snapshots } = this.#options
    const { symbol, expiration } = this.#subscription.topic
    const query = { underlying: symbol, expiration }
    const isDue = clock.monotonicMs() >= this.#contractsUntilMs
    if (isDue) {
      const listed = await contracts(query, signal)
      this.#contracts = new Map(listed.map(contract => [contract.symbol, contract]))
    }
    const market = await snapshots(query, signal)
    signal.throwIfAborted()
    if (this.#contracts.size === 0) throw new BrokerFault('refused', `${broker} has no options of ${symbol} that expire on ${expiration}`)
    this.#market = market
    const presentMs = this.#options.presentMs()
    const entries = [...this.#contracts.values()].map(contract => this.#entryOf(contract, presentMs))
    this.#live()
    for (const entry of entries) this.#publish(entry)
    if (!isDue) return
    this.#contractsUntilMs = clock.monotonicMs() + CONTRACTS_MS
    this.#follow(entries)
  }

  /** @throws Malformed */
  #entryOf(contract: Contract, presentMs: number): ChainEntry {
    const snapshot = this.#market.get(contract.symbol) ?? null
    const entry = this.#options.entryOf(contract, snapshot, presentMs)
    const quote = this.#quotes.get(contract.symbol)
    return quote === undefined ? entry : this.#options.withQuote(entry, quote, snapshot)
  }

  /** Streams the quotes of the contracts about the money, which change the most. */
  #follow(entries: readonly ChainEntry[]): void {
    const wanted = new Map(
      entries
        .toSorted((a, b) => fromMoney(a) - fromMoney(b))
        .slice(0, this.#options.streamedMax)
        .map(entry => [entry.symbol, entry])
    )
    for (const symbol of this.#streamed.keys()) if (!wanted.has(symbol)) this.#giveBack(symbol)
    for (const symbol of wanted.keys())
      if (!this.#streamed.has(symbol)) this.#streamed.set(symbol, this.#options.quotes(symbol, this.#sinkOf(symbol)))
  }

  #giveBack(symbol: string): void {
    this.#streamed.get(symbol)?.[Symbol.dispose]()
    this.#streamed.delete(symbol)
    this.#quotes.delete(symbol)
  }

  /** While it is not streamed, the polls deliver. One that is refused is not requested again. */
  #sinkOf(symbol: string): TopicSink {
    const nothing = () => undefined
    return {
      ...{ live: nothing, refused: nothing, trade: nothing, depth: nothing, bar: nothing, chain: nothing },
      lost: () => void this.#quotes.delete(symbol),
      quote: quote => this.#quoted(symbol, quote)
    }
  }

  #quoted(symbol: string, quote: Quote): void {
    this.#quotes.set(symbol, quote)
    const contract = this.#contracts.get(symbol)
    if (!this.#subscription.isLive || contract === undefined) return
    let entry: ChainEntry
    try {
      entry = this.#entryOf(contract, this.#options.presentMs())
    } catch {
      // A snapshot that cannot be read is replaced by the next poll.
      return
    }
    this.#publish(entry)
  }

  #publish(entry: ChainEntry): void {
    const text = JSON.stringify(entry)
    if (this.#published.get(entry.symbol) === text) return
    this.#published.set(entry.symbol, text)
    this.#subscription.sink.chain(entry)
  }

  #live(): void {
    if (!this.#subscription.isLive) this.#published = new Map()
    this.#subscription.live()
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await this.#options.clock.sleep(ms, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
  }
}

/** How far a contract's delta is from one half, from 0 to 1; what has no delta comes last. */
function fromMoney({ greeks }: ChainEntry): number {
  const delta = greeks?.delta ?? null
  return delta === null ? 1 : Math.abs(Math.abs(Number(delta)) - 0.5)
}
