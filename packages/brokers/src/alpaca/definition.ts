/** Alpaca: what it can do, its settings and login, its reads, and how its parts fit together. */

import { midnight } from '@trunkline/core/domain/calendar/index'
import { parseBrokerId } from '@trunkline/core/domain/ids'
import { type Day, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { BalanceReport, BrokerAccount, BrokerCapabilities, PositionReport, TransactionReport } from '@trunkline/core/ports/broker'
import { apiKeys } from '../kit/api-key.ts'
import { USUAL, USUAL_MARKET_DATA } from '../kit/capabilities.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import type { RateLimits } from '../kit/rate-limiter.ts'
import { get } from '../kit/requests.ts'
import type { OpenLogin, ReadDefinitions, RestDefinition } from '../kit/runtime/definition.ts'
import { perLogin } from '../kit/runtime/per-login.ts'
import type { AccountQuery, ListRead } from '../kit/runtime/read-definitions.ts'
import { answered, pagesByRecord } from '../kit/runtime/reads.ts'
import { restBroker } from '../kit/runtime/rest-broker.ts'
import { SoleAccount } from '../kit/runtime/sole-account.ts'
import { adapter, type BrokerSettings, clientOf, clientTable, demandNoEnvironment, SettingMissing, webSocketUrl } from '../kit/settings.ts'
import { accountStream, type Hello } from './account-stream.ts'
import { parseAccount, parseBalance, parsePosition, parseTransaction } from './codecs.ts'
import { alpacaMarket, type MarketSettings } from './market.ts'
import { ALPACA_ORDERS, ORDER_OFFER, ORDER_READS, openOrders, PAGES_MAX } from './orders.ts'
import { errorMessageOf, isUnauthorized, limitsOf, type Resource, readList, readRecord } from './quirks.ts'

export interface AlpacaSettings extends MarketSettings {
  readonly environment: 'sandbox' | 'paper' | 'live'
  /** Below it `/v2/…`, and `/stream` over WebSocket. Addresses are without a trailing slash. */
  readonly tradingUrl: string
  readonly dataUrl: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  /** `api_key`: users enter their own keys. */
  readonly login: { readonly clientId: string; readonly clientSecret: string } | 'api_key'
  /** Plain `http:` and `ws:` are allowed: the sandbox brokerage runs beside us. */
  readonly plain: boolean
}

export const ALPACA_CAPABILITIES = {
  id: parseBrokerId('ALPACA'),
  logoColor: '#fcd34d',
  logoInitials: 'Al',
  ...USUAL,
  ...ORDER_OFFER,
  marketData: {
    ...USUAL_MARKET_DATA,
    dailyBars: 'all_hours',
    // Alpaca streams a bar once, when its minute is over: live bars are built from trades, which cover the open one too.
    liveIntervals: [],
    // It lists all its assets at once, thousands of them, and searches none.
    symbolSearch: false,
    historyLagMs: 5_000
  },
  replacedOrderId: 'new',
  replacedQuantity: 'rest',
  executions: true,
  rejectReasons: false,
  tokens: 'lasting',
  orderPreview: false,
  deduplication: 'enforced'
} as const satisfies BrokerCapabilities

/** As the deployment has it: the sandbox brokerage trades fractions of a share at the market only. */
function capabilitiesOf({ environment, login }: AlpacaSettings): BrokerCapabilities {
  const own: BrokerCapabilities = { ...ALPACA_CAPABILITIES, login: login === 'api_key' ? 'api_key' : 'oauth' }
  if (environment !== 'sandbox') return own
  return { ...own, exclusions: [...own.exclusions, { instruments: ['STK'], types: ['LMT', 'STP', 'STPLMT'], sizes: ['fraction'] }] }
}

/** 200 requests a minute and account, at each of the two hosts. What Alpaca reports of its limit with each answer takes precedence. */
const RATES: Pick<RateLimits, 'perSecond' | 'burst' | 'waitingMax'> = { perSecond: 3, burst: 100, waitingMax: 500 }
/** The sandbox accepts more, and reports its limits as well: what is reserved for orders must fit into those. */
const AT_SANDBOX: Partial<RateLimits> = { perSecond: 2_000, burst: 2_000, waitingMax: 2_000, waitMsMax: 2_000 }
/** A page of ten thousand bars has about two megabytes. */
const HTTP_LIMITS = { connections: 64, requestsMax: 4_000, bodyMax: 8 * 1024 * 1024 }
const ACTIVITIES_PAGE = 100
const DAY_MS = 86_400_000
/** An activity is recorded on its day or some days after it (fees the next trading day); it is requested by its time of recording. */
const RECORDED_LATE_DAYS = 5
const ZONE = 'America/New_York'

export function alpaca(settings: AlpacaSettings, deps: BrokerDeps) {
  const { environment, plain, tradingUrl, dataUrl, pingMs } = settings
  const rates = environment === 'sandbox' ? AT_SANDBOX : {}
  const { scheme, hello } = loginOf(settings)
  const definition: RestDefinition<Resource, null> = {
    capabilities: capabilitiesOf(settings),
    environment,
    plain,
    apiUrl: tradingUrl,
    resourceUrls: { data: dataUrl },
    httpLimits: HTTP_LIMITS,
    quotas: {
      trading: { ...RATES, reservedForOrders: 40, waitMsMax: 5_000, ...rates },
      data: { ...RATES, reservedForOrders: 0, waitMsMax: 15_000, ...rates }
    },
    login: scheme,
    answers: { unauthorized: isUnauthorized, limits: limitsOf, errorMessage: errorMessageOf },
    // One answer may be a passing failure, and some hosts have their own reasons: the answer to the account request decides.
    confirm: { resource: 'trading', request: ACCOUNT },
    reads: ALPACA_READS,
    soleAccount,
    orders: ALPACA_ORDERS,
    accountStreams: login => [
      accountStream({
        ...{ ...login, url: `${webSocketUrl(tradingUrl)}/stream`, pingMs, hello },
        account: signal => soleAccount(login).id(signal),
        openOrders: (account, signal) => openOrders(login.reads, account, signal)
      })
    ],
    market: (login, market) => alpacaMarket(settings, login, token => hello(token).auth, market)
  }
  return restBroker(definition, deps)
}

const ACCOUNT = get('/v2/account')

/** Newest first. */
export const ACTIVITIES: ListRead<Resource, AccountQuery & { readonly from: Day; readonly to: Day }, TransactionReport> = {
  resource: 'trading',
  request: ({ from, to }, last) =>
    get('/v2/account/activities', {
      // Alpaca leaves out what was recorded at the very time.
      after: timestampOfMs(midnight(from, ZONE) - 1),
      until: timestampOfMs(midnight(to, ZONE) + (RECORDED_LATE_DAYS + 1) * DAY_MS),
      ...{ direction: 'desc', page_size: String(ACTIVITIES_PAGE), page_token: last }
    }),
  page: pagesByRecord(ACTIVITIES_PAGE, 'id', readList),
  pagesMax: PAGES_MAX,
  items(records, { from, to }, { readable, unknownValues }) {
    const { known, leftOut } = readable('transactions', records, record => parseTransaction(record, unknownValues), 'id')
    return { known: known.filter(({ day }) => day >= from && day <= to), leftOut }
  }
}

const POSITIONS: ListRead<Resource, AccountQuery, PositionReport> = {
  resource: 'trading',
  request: () => get('/v2/positions'),
  page: reply => ({ records: readList(reply), next: null }),
  items: (records, { account }, { readable, unknownValues }) =>
    readable('positions', records, record => parsePosition(record, account, unknownValues), 'asset_id')
}

const ACCOUNTS = answered<Resource, null, BrokerAccount>(
  'trading',
  () => ACCOUNT,
  readRecord,
  wire => [parseAccount(wire)]
)

const ALPACA_READS: ReadDefinitions<Resource> = {
  accounts: ACCOUNTS,
  balances: answered<Resource, AccountQuery, BalanceReport>(
    'trading',
    () => ACCOUNT,
    readRecord,
    (wire, _query, { asOf }) => [parseBalance(wire, asOf)]
  ),
  positions: POSITIONS,
  ...ORDER_READS,
  transactions: ACTIVITIES
}

const soleAccount = perLogin(
  ({ reads }: OpenLogin<Resource>) => new SoleAccount(async signal => (await reads.list(ACCOUNTS, null, signal)).known)
)

const KEYS = apiKeys({
  parts: [
    {
      ...{ name: 'key_id', label: 'API key ID', secret: false, lengthMax: 64, header: 'apca-api-key-id' },
      form: '8 to 64 letters and digits, such as those that begin with AK or PK',
      pattern: /^[A-Za-z0-9]{8,64}$/
    },
    {
      ...{ name: 'secret_key', label: 'Secret key', secret: true, lengthMax: 128, header: 'apca-api-secret-key' },
      form: '16 to 128 letters, digits and signs, without spaces',
      pattern: /^[A-Za-z0-9/+=_-]{16,128}$/
    }
  ],
  helpUrl: 'https://app.alpaca.markets/dashboard/overview'
})

/** OAuth, or keys that the user made at Alpaca. Both last until they are revoked. */
function loginOf({ login, authorizeUrl, tokenUrl, environment }: AlpacaSettings): {
  readonly scheme: RestDefinition<Resource, null>['login']
  readonly hello: Hello
} {
  if (login === 'api_key')
    return {
      scheme: KEYS,
      hello(token) {
        const [key, secret] = KEYS.keysOf(token)
        return {
          auth: { action: 'auth', key, secret },
          authenticate: { action: 'authenticate', data: { key_id: key, secret_key: secret } }
        }
      }
    }
  return {
    scheme: {
      ...login,
      issuer: new URL(authorizeUrl).origin,
      issuerInRedirect: false,
      authorizationEndpoint: authorizeUrl,
      tokenEndpoint: tokenUrl,
      revocationEndpoint: null,
      clientAuthentication: 'post',
      pkce: false,
      scope: trading => (trading ? 'trading data' : 'data'),
      // Without it the user may choose an account of either kind, and the token would be for both.
      authorizationParameters: { env: environment === 'live' ? 'live' : 'paper' }
    },
    hello: token => ({
      auth: { action: 'auth', key: 'oauth', secret: token },
      authenticate: { action: 'authenticate', data: { oauth_token: token } }
    })
  }
}

const TABLE = {
  ...clientTable('ALPACA', 'Alpaca', 'paper', '`live` or `paper`'),
  clientId: {
    env: 'TRUNKLINE_ALPACA_CLIENT_ID',
    fallback: '',
    about: 'OAuth client id at Alpaca. Empty, with `TRUNKLINE_ALPACA_API_KEYS` not `1`: the sandbox brokerage emulates Alpaca.'
  },
  apiKeys: {
    env: 'TRUNKLINE_ALPACA_API_KEYS',
    fallback: '0',
    allowed: ['0', '1', 'sandbox'],
    about:
      '`1`: users enter their own Alpaca API key in the portal, and no OAuth client is needed. `sandbox`: the same with the sandbox brokerage’s keys, to try the form.'
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
} as const
const PING_MS = 10_000
const TRADING = { live: 'https://api.alpaca.markets', paper: 'https://paper-api.alpaca.markets' } as const
const BROKER = {
  dataUrl: 'https://data.alpaca.markets',
  dataStreamUrl: 'wss://stream.data.alpaca.markets',
  authorizeUrl: 'https://app.alpaca.markets/oauth/authorize',
  tokenUrl: 'https://api.alpaca.markets/oauth/token',
  ...({ pingMs: PING_MS, hours: 'exchange', plain: false } as const)
} as const

export const ALPACA_SETTINGS: BrokerSettings<AlpacaSettings, typeof TABLE> = {
  table: TABLE,
  choose(values) {
    const { stockFeed, optionFeed, environment, apiKeys: keys } = values
    const client = clientOf(TABLE, values)
    if (client !== null && keys !== '0')
      throw new SettingMissing(
        TABLE.apiKeys.env,
        `must be left out, because ${TABLE.clientId.env} is set: users log in one way or the other`
      )
    const login: AlpacaSettings['login'] | null = keys === '1' ? 'api_key' : client
    if (login !== null) {
      const tradingUrl = TRADING[environment]
      const settings = { ...BROKER, ...{ environment, tradingUrl, login, stockFeed, optionFeed } }
      return { at: 'broker', environment, ordersUrl: tradingUrl, settings }
    }
    demandNoEnvironment(TABLE, values)
    return {
      at: 'sandbox',
      settings: ({ url, publicUrl, clientId, clientSecret, hours }) => ({
        ...{ environment: 'sandbox', login: keys === 'sandbox' ? 'api_key' : { clientId, clientSecret }, stockFeed, optionFeed },
        tradingUrl: `${url}/alpaca/api`,
        dataUrl: `${url}/alpaca/data`,
        dataStreamUrl: webSocketUrl(`${url}/alpaca/data-stream`),
        authorizeUrl: `${publicUrl}/alpaca/oauth/authorize`,
        tokenUrl: `${url}/alpaca/oauth/token`,
        ...{ pingMs: PING_MS, hours, plain: true }
      })
    }
  }
}

export const ALPACA = adapter(ALPACA_CAPABILITIES, ALPACA_SETTINGS, alpaca)
