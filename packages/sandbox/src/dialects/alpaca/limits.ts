/** Alpaca's rate limits, which the sandbox can change: by default they are wide, so that they hinder no test. */
import { Fields } from '../frame/brokerage.ts'

const WIDE = { requestsPerMinute: 60_000, connectionsPerStream: 20, symbolsPerStream: 10_000 }

export class Limits {
  /** Alpaca: 200, on either host. */
  requestsPerMinute = WIDE.requestsPerMinute
  /** Clients of one login on one endpoint of market data. Alpaca: 1. */
  connectionsPerStream = WIDE.connectionsPerStream
  /** Symbols of trades and quotes together on one stream. Alpaca: 30 on its smallest plan. */
  symbolsPerStream = WIDE.symbolsPerStream

  /** As they came. */
  reset(): void {
    Object.assign(this, WIDE)
  }

  /** @throws Problem `bad_request` */
  set(body: unknown): void {
    const fields = new Fields(body, ['requests_per_minute', 'connections_per_stream', 'symbols_per_stream'])
    const [requests, connections, symbols] = [
      fields.countOr('requests_per_minute', 1, 10_000_000),
      fields.countOr('connections_per_stream', 1, 1_000),
      fields.countOr('symbols_per_stream', 1, 1_000_000)
    ]
    this.requestsPerMinute = requests ?? this.requestsPerMinute
    this.connectionsPerStream = connections ?? this.connectionsPerStream
    this.symbolsPerStream = symbols ?? this.symbolsPerStream
  }

  shown(): object {
    return {
      requests_per_minute: this.requestsPerMinute,
      connections_per_stream: this.connectionsPerStream,
      symbols_per_stream: this.symbolsPerStream
    }
  }
}
