import type { MarketHours } from '../kit/market-hours.ts'
import { type BrokerSettings, type BrokerTable, clientOf, demandNoEnvironment, SettingMissing, webSocketUrl } from '../kit/settings.ts'

export interface AlpacaSettings {
  readonly environment: 'sandbox' | 'paper' | 'live'
  /** Below it `/v2/…`, and `/stream` over WebSocket. Addresses are without a trailing slash. */
  readonly tradingUrl: string
  readonly dataUrl: string
  /** `wss:`; below it the streams of each kind of instrument. */
  readonly dataStreamUrl: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  /** `api_key`: users enter their own keys. */
  readonly login: { readonly clientId: string; readonly clientSecret: string } | 'api_key'
  readonly stockFeed: 'iex' | 'sip'
  readonly optionFeed: 'indicative' | 'opra'
  /** Alpaca's streams are silent while nothing happens: a ping this often, and two without an answer mean a dead connection. */
  readonly pingMs: number
  /** When its markets are open: those of the exchanges, but for a sandbox. */
  readonly hours: MarketHours
  /** Plain `http:` and `ws:` are allowed: the sandbox brokerage runs beside us. */
  readonly plain: boolean
}

const TABLE = {
  clientId: {
    env: 'TRUNKLINE_ALPACA_CLIENT_ID',
    fallback: '',
    about: 'OAuth client id at Alpaca. Empty, with `TRUNKLINE_ALPACA_API_KEYS` not `1`: the sandbox brokerage emulates Alpaca.'
  },
  clientSecret: { env: 'TRUNKLINE_ALPACA_CLIENT_SECRET', fallback: '', about: 'OAuth client secret at Alpaca.', secret: true },
  apiKeys: {
    env: 'TRUNKLINE_ALPACA_API_KEYS',
    fallback: '0',
    allowed: ['0', '1', 'sandbox'],
    about:
      '`1`: users enter their own Alpaca API key in the portal, and no OAuth client is needed. `sandbox`: the same with the sandbox brokerage’s keys, to try the form.'
  },
  environment: {
    env: 'TRUNKLINE_ALPACA_ENV',
    fallback: 'live',
    allowed: ['live', 'paper'],
    about: 'Alpaca’s environment: `live` or `paper`.'
  },
  stockFeed: {
    env: 'TRUNKLINE_ALPACA_STOCK_FEED',
    fallback: 'iex',
    allowed: ['iex', 'sip'],
    about: 'Source of share prices: `iex`, which every account has, or `sip` (all exchanges), which needs a data plan.'
  },
  optionFeed: {
    env: 'TRUNKLINE_ALPACA_OPTION_FEED',
    fallback: 'indicative',
    allowed: ['indicative', 'opra'],
    about: 'Source of option prices: `indicative`, which every account has, or `opra`, which needs a data plan.'
  }
} as const satisfies BrokerTable

export const ALPACA_SETTINGS: BrokerSettings<AlpacaSettings, typeof TABLE> = {
  table: TABLE,
  choose(values) {
    const { stockFeed, optionFeed, environment } = values
    const client = clientOf(TABLE, values)
    if (client !== null && values.apiKeys !== '0')
      throw new SettingMissing(
        TABLE.apiKeys.env,
        `must be left out, because ${TABLE.clientId.env} is set: users log in one way or the other`
      )
    const isKeyed = values.apiKeys === 'sandbox'
    const login: AlpacaSettings['login'] | null = values.apiKeys === '1' ? 'api_key' : client
    if (login !== null) {
      const tradingUrl = TRADING[environment]
      const settings = { ...REAL, ...{ environment, tradingUrl, login, stockFeed, optionFeed } }
      return { at: 'broker', environment, ordersUrl: tradingUrl, settings }
    }
    demandNoEnvironment(TABLE, values)
    return {
      at: 'sandbox',
      settings: ({ url, publicUrl, clientId, clientSecret, hours }) => ({
        ...{ environment: 'sandbox', login: isKeyed ? 'api_key' : { clientId, clientSecret }, stockFeed, optionFeed },
        tradingUrl: `${url}/alpaca/api`,
        dataUrl: `${url}/alpaca/data`,
        dataStreamUrl: webSocketUrl(`${url}/alpaca/data-stream`),
        authorizeUrl: `${publicUrl}/alpaca/oauth/authorize`,
        tokenUrl: `${url}/alpaca/oauth/token`,
        pingMs: PING_MS,
        hours,
        plain: true
      })
    }
  }
}

const PING_MS = 10_000
const TRADING = { live: 'https://api.alpaca.markets', paper: 'https://paper-api.alpaca.markets' } as const
const REAL = {
  dataUrl: 'https://data.alpaca.markets',
  dataStreamUrl: 'wss://stream.data.alpaca.markets',
  authorizeUrl: 'https://app.alpaca.markets/oauth/authorize',
  tokenUrl: 'https://api.alpaca.markets/oauth/token',
  pingMs: PING_MS,
  hours: 'exchange',
  plain: false
} as const
