/** What a broker's tests bring so that the market contract's cases can be run against it. */

import type { MarketDataCapabilities } from '@trunkline/core/ports/broker'
import type { MarketSource } from '@trunkline/core/ports/market'

/** Everything one case needs, created fresh for it. Disposing it leaves nothing behind. */
export interface MarketHarness extends AsyncDisposable {
  readonly capabilities: MarketDataCapabilities
  /** Market data of a fresh login. */
  readonly market: MarketSource
  readonly venue: MarketVenue
  readonly symbols: MarketSymbols
  /** How long a case waits for what must come before it fails. */
  readonly patienceMs: number
  /** Ends the login's session. */
  close(): Promise<void>
}

export interface MarketSymbols {
  /** Always open and trading: events of every channel come within seconds. */
  readonly busy: string
  /** Another one of the kind. */
  readonly other: string
  /** Has options; null where the broker has none. */
  readonly underlying: string | null
  /** Has the form of a symbol, and the broker does not know it. */
  readonly unknown: string
}

/** Done to the streams of this login: `normal` ends it. */
export type InjectedMarketFault = 'normal' | 'duplicate' | 'reorder' | 'lose' | 'mute' | 'drop' | 'garble'

export interface MarketVenue {
  stream(fault: InjectedMarketFault): Promise<void>
  /** Market streams of this login that are open now. */
  open(): Promise<number>
  /** Lets the venue's time run on at once, so that what would take so long has happened. */
  advance(ms: number): Promise<void>
  /** Ends the login, its tokens and its streams. */
  revoke(): Promise<void>
}
