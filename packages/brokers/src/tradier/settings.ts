import type { MarketHours } from '../kit/market-hours.ts'
import { type BrokerSettings, type BrokerTable, clientOf, demandNoEnvironment, webSocketUrl } from '../kit/settings.ts'

export interface TradierSettings {
  readonly environment: 'sandbox' | 'paper' | 'live'
  /** REST, with its version; the token endpoints are below it. Addresses are without a trailing slash. */
  readonly apiUrl: string
  /** `wss:`, with its version; below it the account and the market stream. */
  readonly streamUrl: string
  readonly authorizeUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** Tradier documents no such parameter and knows one callback per application. The sandbox receives it, because our port is not fixed. */
  readonly sendRedirectUri: boolean
  /** Whether the streams are used; otherwise their data is polled. */
  readonly accountStream: boolean
  readonly marketStream: boolean
  /** Between two signs of life of the account stream, in milliseconds; a minute unless it is known otherwise. */
  readonly heartbeatMs?: number
  /** When its markets are open: those of the exchanges, but for a sandbox. */
  readonly hours: MarketHours
  /** Plain `http:` and `ws:` are allowed: the sandbox brokerage runs beside us. */
  readonly plain: boolean
}

const STREAM_VALUES = ['auto', '0', '1'] as const

const TABLE = {
  clientId: {
    env: 'TRUNKLINE_TRADIER_CLIENT_ID',
    fallback: '',
    about: 'OAuth client id at Tradier. Empty: the sandbox brokerage emulates Tradier.'
  },
  clientSecret: { env: 'TRUNKLINE_TRADIER_CLIENT_SECRET', fallback: '', about: 'OAuth client secret at Tradier.', secret: true },
  environment: {
    env: 'TRUNKLINE_TRADIER_ENV',
    fallback: 'live',
    allowed: ['live', 'sandbox'],
    about: 'Tradier’s environment: `live`, or `sandbox`, its own practice accounts.'
  },
  accountStream: {
    env: 'TRUNKLINE_TRADIER_ACCOUNT_STREAM',
    fallback: 'auto',
    allowed: STREAM_VALUES,
    about: '`1` follows accounts by Tradier’s stream, `0` by polling. `auto`: by the stream if the environment is `live`.'
  },
  marketStream: {
    env: 'TRUNKLINE_TRADIER_MARKET_STREAM',
    fallback: 'auto',
    allowed: STREAM_VALUES,
    about: '`1` follows prices by Tradier’s stream, `0` by polling. `auto`: by the stream if the environment is `live`.'
  }
} as const satisfies BrokerTable

export const TRADIER_SETTINGS: BrokerSettings<TradierSettings, typeof TABLE> = {
  table: TABLE,
  choose(values) {
    const { environment } = values
    const isUsed = (value: (typeof STREAM_VALUES)[number], fallback: boolean) => (value === 'auto' ? fallback : value === '1')
    const streams = (fallback: boolean) => ({
      accountStream: isUsed(values.accountStream, fallback),
      marketStream: isUsed(values.marketStream, fallback)
    })
    const client = clientOf(TABLE, values)
    if (client !== null) {
      const real = REAL[environment]
      const settings = { ...real, ...client, ...streams(environment === 'live'), ...COMMON, plain: false }
      return { at: 'broker', environment: real.environment, ordersUrl: real.apiUrl, settings }
    }
    demandNoEnvironment(TABLE, values)
    return {
      at: 'sandbox',
      settings: ({ url, publicUrl, clientId, clientSecret, hours }) => ({
        ...{ environment: 'sandbox', clientId, clientSecret, hours, ...streams(true) },
        apiUrl: `${url}/tradier/v1`,
        streamUrl: webSocketUrl(`${url}/tradier/ws/v1`),
        authorizeUrl: `${publicUrl}/tradier/v1/oauth/authorize`,
        sendRedirectUri: true,
        plain: true
      })
    }
  }
}

const COMMON = { authorizeUrl: 'https://api.tradier.com/v1/oauth/authorize', sendRedirectUri: false, hours: 'exchange' } as const
const REAL = {
  live: { environment: 'live', apiUrl: 'https://api.tradier.com/v1', streamUrl: 'wss://ws.tradier.com/v1' },
  sandbox: { environment: 'paper', apiUrl: 'https://sandbox.tradier.com/v1', streamUrl: 'wss://sandbox-ws.tradier.com/v1' }
} as const
