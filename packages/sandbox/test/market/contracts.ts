/** Shared by tests of contracts. */
import assert from 'node:assert/strict'
import type { QuoteCommand } from '../../src/engine/types.ts'
import { type FeedCommand, type Instrument, type Market, openSynthetic } from '../../src/market/index.ts'

/** A Friday, 10:00 in New York. */
export const NOW = Date.UTC(2026, 10, 20, 15) * 1_000

export function always(seed = '7', updatesPerSecond = 2): Market {
  return openSynthetic({ seed, calendar: 'always', updatesPerSecond })
}

export function newYork(text: string): number {
  return Temporal.ZonedDateTime.from(`${text}[America/New_York]`).epochMilliseconds * 1_000
}

export function symbolsOf(instruments: readonly Instrument[]): readonly string[] {
  return instruments.map(({ symbol }) => symbol)
}

export function of(commands: readonly FeedCommand[], symbol: string): readonly FeedCommand[] {
  return commands.filter(command => 'symbol' in command && command.symbol === symbol)
}

/** The last shown quote of each symbol. */
export function shown(commands: readonly FeedCommand[]): Map<string, QuoteCommand> {
  return new Map(commands.flatMap(command => (command.type === 'quote' ? [[command.symbol, command] as const] : [])))
}

/** The best prices, 0 where there is no bid. */
export function prices(quote: QuoteCommand | undefined): { readonly bid: number; readonly ask: number } {
  assert.ok(quote !== undefined)
  return { bid: Number(quote.bids[0]?.[0] ?? '0'), ask: Number(quote.asks[0]?.[0]) }
}
