// As much as is used of packages that are installed beside this file only, and only for a comparison.

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
