// The used parts of packages that are installed only beside this file, for a comparison.

declare module 'tardis-dev' {
  interface Mapper {
    canHandle(message: unknown): boolean
    map(message: unknown, localTimestamp: Date): IterableIterator<unknown>
  }
  export function normalizeTrades(exchange: string, localTimestamp: Date): Mapper
  export function normalizeBookChanges(exchange: string, localTimestamp: Date): Mapper
}

declare module 'ccxt' {
  interface Exchange {
    safeMarket(marketId: string): unknown
    parseTrade(trade: unknown, market: unknown): unknown
    parseOrderBook(book: unknown, symbol: string, timestamp: number): unknown
    parse8601(time: string): number
  }
  export const coinbaseexchange: new () => Exchange
}
