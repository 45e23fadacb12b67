// Packages that are installed beside this file only, and only where the judges are asked: what they give is read as by a program without types.

declare module '@alpacahq/alpaca-trade-api' {
  export const Alpaca: new (options: {
    readonly keyId: string
    readonly secret: string
    readonly paper: boolean
    readonly fetchApi: typeof fetch
  }) => unknown
}

declare module 'ccxt' {
  interface AlpacaClass {
    urls: { api: unknown }
    loadHttpProxyAgent(): Promise<unknown>
  }
  export const pro: {
    readonly alpaca: new (options: { readonly apiKey: string; readonly secret: string; readonly enableRateLimit: boolean }) => AlpacaClass
  }
}
