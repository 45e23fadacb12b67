import type { Watch, Watcher, WatchRequest } from '@trunkline/core/app/market/watcher'
import type { Bar, ChainEntry, Depth, Quote, Trade } from '@trunkline/core/domain/market/records'
import type { ClientConnection } from '../client-connection.ts'
import { barText, chainText, depthText, quoteText, tailOf, tradeText } from './encode.ts'
import type { Subscribe } from './requests.ts'

/** The session of a subscription. */
export interface Reader {
  readonly client: Pick<ClientConnection, 'sendText' | 'isBehind'>
  /** A newer value waits until the reader has caught up; then {@link Subscription.catchUp} is called. */
  behind(subscription: Subscription): void
  interrupted(subscription: Subscription, reason: string): void
}

/**
 * One subscription of one session. All trades and closed bars are sent; of quotes, depth, open bars and contracts a slow reader gets the
 * newest once it has caught up.
 */
export class Subscription implements Watcher {
  readonly subId: string
  readonly requested: WatchRequest
  readonly #watch: Watch
  readonly #reader: Reader
  readonly #tail: string
  readonly #levels: number
  readonly #greeks: boolean
  /** The newest waiting values: by contract for a chain, under one name for everything else. */
  #pending: Map<string, () => string> | null = null

  constructor(subId: string, { watch: requested, levels, greeks }: Subscribe, watch: Watch, reader: Reader) {
    this.subId = subId
    this.requested = requested
    this.#watch = watch
    this.#reader = reader
    this.#tail = tailOf(subId)
    this.#levels = levels
    this.#greeks = greeks
  }

  begin(): void {
    this.#watch.begin(this)
  }

  end(): void {
    this.#watch.end()
    this.#pending = null
  }

  trade(trade: Trade): void {
    this.#reader.client.sendText(tradeText(trade) + this.#tail)
  }

  quote(quote: Quote): void {
    if (this.#reader.client.isBehind) this.#later(NEWEST, () => quoteText(quote))
    else this.#reader.client.sendText(quoteText(quote) + this.#tail)
  }

  depth(depth: Depth): void {
    if (this.#reader.client.isBehind) this.#later(NEWEST, () => depthText(depth, this.#levels))
    else this.#reader.client.sendText(depthText(depth, this.#levels) + this.#tail)
  }

  chain(entry: ChainEntry): void {
    if (this.#reader.client.isBehind) this.#later(entry.symbol, () => chainText(entry, this.#greeks))
    else this.#reader.client.sendText(chainText(entry, this.#greeks) + this.#tail)
  }

  bar(bar: Bar): void {
    if (!bar.closed && this.#reader.client.isBehind) {
      this.#later(NEWEST, () => barText(bar))
      return
    }
    // An open bar that waits is older than this one, and may be this very bar.
    this.#pending?.delete(NEWEST)
    this.#reader.client.sendText(barText(bar) + this.#tail)
  }

  interrupted(reason: string): void {
    this.#reader.interrupted(this, reason)
  }

  /** The reader has caught up. */
  catchUp(): void {
    const pending = this.#pending
    this.#pending = null
    for (const text of pending?.values() ?? []) this.#reader.client.sendText(text() + this.#tail)
  }

  #later(name: string, text: () => string): void {
    if (this.#pending === null) {
      this.#pending = new Map()
      this.#reader.behind(this)
    }
    this.#pending.set(name, text)
  }
}

const NEWEST = ''
