/** One expiration's options, told whole at first and then whatever changed: the contracts once, their market again and again. */

import type { ChainEntry } from '@trunkline/core/domain/market/records'
import type { Day } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type GapCause } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { TopicLease, TopicSink } from '@trunkline/core/ports/market'
import type { Wire } from '../../kit/parse.ts'
import { type Backoff, pauseMs } from '../../kit/retry.ts'
import { type Contract, chainEntry } from './contracts.ts'
import type { Present } from './present.ts'

/** From one look at the market of a chain to the next, where the budget allows. */
const LOOK_MS = 5_000
/** Contracts are listed overnight, and new strikes during the day. */
const CONTRACTS_MS = 600_000
const AGAIN: Backoff = { firstMs: 2_000, longestMs: 60_000 }

export interface ChainOptions {
  readonly clock: Clock
  readonly fraction: () => number
  readonly present: Present
  /** @throws BrokerFault */
  readonly contracts: (underlying: string, expiration: Day, signal: AbortSignal) => Promise<readonly Contract[]>
  /** Each contract's market, by symbol. @throws BrokerFault */
  readonly snapshots: (underlying: string, expiration: Day, signal: AbortSignal) => Promise<ReadonlyMap<string, Wire>>
}

export class ChainWatch implements TopicLease, AsyncDisposable {
  readonly #options: ChainOptions
  readonly #topic: { readonly symbol: string; readonly expiration: Day }
  readonly #sink: TopicSink
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #contracts: readonly Contract[] = []
  #contractsUntilMs = 0
  /** What was told of each contract. */
  #told = new Map<string, string>()
  #isLive = false
  #outage: GapCause | null = null
  #wake: () => void = () => undefined

  constructor(options: ChainOptions, topic: { readonly symbol: string; readonly expiration: Day }, sink: TopicSink) {
    this.#options = options
    this.#topic = topic
    this.#sink = sink
    this.#running = this.#run()
  }

  renew(): void {
    if (this.#closing.signal.aborted) return
    if (this.#isLive) this.#lost('silence', 'nothing has come for too long, and it was asked for anew')
    this.#wake()
  }

  [Symbol.dispose](): void {
    this.#closing.abort(new Error('nobody streams the chain'))
  }

  /** Resolves when nothing is asked any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]()
    await this.#running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted; ) {
      try {
        await this.#look(signal)
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        if (error instanceof BrokerFault && error.kind === 'refused') return this.#sink.refused(error.message)
        this.#lost(causeOf(error), error instanceof Error ? error.message : 'the chain could not be read')
      }
      await this.#sleep(failures === 0 ? LOOK_MS : pauseMs(AGAIN, failures - 1, this.#options.fraction), signal)
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock, contracts, snapshots, present } = this.#options
    const { symbol, expiration } = this.#topic
    if (clock.monotonicMs() >= this.#contractsUntilMs) {
      this.#contracts = await contracts(symbol, expiration, signal)
      this.#contractsUntilMs = clock.monotonicMs() + CONTRACTS_MS
    }
    const market = await snapshots(symbol, expiration, signal)
    signal.throwIfAborted()
    if (this.#contracts.length === 0) throw new BrokerFault('refused', `Alpaca has no options of ${symbol} that expire on ${expiration}`)
    const presentMs = present.nowMs()
    const entries = this.#contracts.map(contract => chainEntry(contract, market.get(contract.symbol) ?? null, presentMs))
    this.#live()
    for (const entry of entries) this.#tell(entry)
  }

  #tell(entry: ChainEntry): void {
    const text = JSON.stringify(entry)
    if (this.#told.get(entry.symbol) === text) return
    this.#told.set(entry.symbol, text)
    this.#sink.chain(entry)
  }

  #live(): void {
    if (this.#isLive) return
    this.#isLive = true
    this.#outage = null
    this.#told = new Map()
    this.#sink.live()
  }

  /** Told once for a loss, and again only when its cause has become another one. */
  #lost(cause: GapCause, reason: string): void {
    this.#isLive = false
    if (this.#outage === cause) return
    this.#outage = cause
    this.#sink.lost(cause, reason)
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await this.#options.clock.sleep(ms, AbortSignal.any([signal, woken.signal])).catch(() => undefined)
  }
}

function causeOf(error: unknown): GapCause {
  if (!(error instanceof BrokerFault)) return 'malformed'
  if (error.kind === 'credentials_rejected') return 'token'
  return error.kind === 'malformed' ? 'malformed' : 'lost'
}
