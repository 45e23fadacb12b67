/** Why requested market data is not available. */
export type MarketRefusalCode =
  | 'invalid_request'
  | 'unsupported_channel'
  | 'unsupported_symbol'
  | 'unsupported_interval'
  | 'unsupported_session'
  | 'connection_broken'
  | 'broker_unavailable'

/** An expected failure. The message states what to do and is fit to show. Nothing was changed. */
export class MarketRefusal extends Error {
  override readonly name = 'MarketRefusal'
  readonly code: MarketRefusalCode

  constructor(code: MarketRefusalCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}
