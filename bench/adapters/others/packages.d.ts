// The used parts of packages that are installed only beside this file, for a comparison.

declare module 'ccxt' {
  interface Client {
    resolve(result: unknown, hash: string): void
  }
  interface Alpaca {
    parseMarket(asset: object): unknown
    setMarkets(markets: readonly unknown[]): unknown
    parseOrder(order: unknown): unknown
    parseTrade(trade: unknown): unknown
    parseTicker(ticker: unknown): unknown
    handleMessage(client: Client, message: unknown): void
  }
  export const pro: { readonly alpaca: new () => Alpaca }
}

declare module '@alpacahq/alpaca-trade-api' {
  interface Options {
    readonly credentials: { readonly keyId: string; readonly secret: string }
  }
  interface Stream {
    /** Protected in its own types: receives the text that the socket has parsed. */
    handleMessage(message: unknown): void
  }
  interface TradingStream extends Stream {
    onTradeUpdate(fn: (update: unknown) => void): this
  }
  interface StockDataStream extends Stream {
    onTrade(fn: (trade: unknown) => void): this
    onQuote(fn: (quote: unknown) => void): this
  }
  export const streaming: {
    readonly TradingStream: new (options: Options) => TradingStream
    readonly StockDataStream: new (options: Options) => StockDataStream
  }
}
