import type { MarketHours } from '../kit/market-hours.ts'
import { type BrokerSettings, type BrokerTable, clientOf, demandNoEnvironment } from '../kit/settings.ts'

export interface TradestationSettings {
  readonly environment: 'sandbox' | 'paper' | 'live'
  /** REST and its line streams, with the version. Addresses are without a trailing slash. */
  readonly apiUrl: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly revokeUrl: string
  readonly clientId: string
  readonly clientSecret: string
  /** The heartbeat interval of streams, in milliseconds; left out: 5 s, as documented, and a little more. */
  readonly heartbeatMs?: number
  /** From one comparison of the order stream with the list of orders to the next, in milliseconds; left out: 15 s. */
  readonly compareMs?: number
  /** When its markets are open: those of the exchanges, but for a sandbox. */
  readonly hours: MarketHours
  /** Plain `http:` is allowed: the sandbox brokerage runs beside us. */
  readonly plain: boolean
}

const TABLE = {
  clientId: {
    env: 'TRUNKLINE_TRADESTATION_CLIENT_ID',
    fallback: '',
    about: 'OAuth client id (API key) at TradeStation. Empty: the sandbox brokerage emulates TradeStation.'
  },
  clientSecret: {
    env: 'TRUNKLINE_TRADESTATION_CLIENT_SECRET',
    fallback: '',
    about: 'OAuth client secret at TradeStation.',
    secret: true
  },
  environment: {
    env: 'TRUNKLINE_TRADESTATION_ENV',
    fallback: 'live',
    allowed: ['live', 'sim'],
    about: 'TradeStation’s environment: `live`, or `sim`, its simulated accounts.'
  }
} as const satisfies BrokerTable

export const TRADESTATION_SETTINGS: BrokerSettings<TradestationSettings, typeof TABLE> = {
  table: TABLE,
  choose(values) {
    const client = clientOf(TABLE, values)
    if (client !== null) {
      const real = REAL[values.environment]
      const settings = { ...real, ...client, ...SIGN_IN, hours: 'exchange', plain: false } as const
      return { at: 'broker', environment: real.environment, ordersUrl: real.apiUrl, settings }
    }
    demandNoEnvironment(TABLE, values)
    return {
      at: 'sandbox',
      settings: ({ url, publicUrl, clientId, clientSecret, hours }) => ({
        ...{ environment: 'sandbox', clientId, clientSecret, hours },
        apiUrl: `${url}/tradestation/v3`,
        authorizeUrl: `${publicUrl}/tradestation/authorize`,
        tokenUrl: `${url}/tradestation/oauth/token`,
        revokeUrl: `${url}/tradestation/oauth/revoke`,
        plain: true
      })
    }
  }
}

const REAL = {
  live: { environment: 'live', apiUrl: 'https://api.tradestation.com/v3' },
  sim: { environment: 'paper', apiUrl: 'https://sim-api.tradestation.com/v3' }
} as const
const SIGN_IN = {
  authorizeUrl: 'https://signin.tradestation.com/authorize',
  tokenUrl: 'https://signin.tradestation.com/oauth/token',
  revokeUrl: 'https://signin.tradestation.com/oauth/revoke'
} as const
