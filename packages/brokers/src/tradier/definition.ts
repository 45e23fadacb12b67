/** Tradier: what it can do, its settings and login, its reads, and how its parts fit together. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import type { Day } from '@trunkline/core/domain/timestamp'
import type { BalanceReport, BrokerAccount, BrokerCapabilities, TransactionReport } from '@trunkline/core/ports/broker'
import { USUAL, USUAL_MARKET_DATA } from '../kit/capabilities.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import { pricesOf } from '../kit/holdings.ts'
import { text } from '../kit/parse.ts'
import type { RateLimits } from '../kit/rate-limiter.ts'
import { get } from '../kit/requests.ts'
import type { OAuthClient, ReadDefinitions, RestDefinition } from '../kit/runtime/definition.ts'
import type { AccountQuery, ListRead, OrderList } from '../kit/runtime/read-definitions.ts'
import { answered, numberedPages } from '../kit/runtime/reads.ts'
import { restBroker } from '../kit/runtime/rest-broker.ts'
import { adapter, type BrokerSettings, type ClientSettings, clientChoice, clientTable, webSocketUrl } from '../kit/settings.ts'
import { accountStream, sessionFor } from './account-stream.ts'
import {
  parseAccount,
  parseBalances,
  parseEvent,
  parseOrder,
  parseOrderAnswer,
  parseOrders,
  parsePrice,
  parseProfile,
  positionOf,
  transactionsOf
} from './codecs.ts'
import { QUOTES_MAX, quotesRequest, tradierMarket } from './market.ts'
import { tradierStream } from './market-stream.ts'
import { accountPath, HOLDINGS, isUnknownOrder, ORDER_OFFER, type Placing, TRADIER_ORDERS } from './orders.ts'
import {
  complaintOf,
  errorMessageOf,
  isForeign,
  isTokenRefused,
  items,
  limitsOf,
  type Resource,
  requestedAnswer,
  textOf
} from './quirks.ts'

/** The token endpoints are below `apiUrl`. */
export interface TradierSettings extends ClientSettings {
  /** `wss:`, with its version; below it the account and the market stream. */
  readonly streamUrl: string
  readonly authorizeUrl: string
  /** Tradier documents no such parameter and has one callback per application. The sandbox receives it, because our port is not fixed. */
  readonly sendRedirectUri: boolean
  /** Whether the streams are used; otherwise their data is polled. */
  readonly accountStream: boolean
  readonly marketStream: boolean
  /** Between two signs of life of the account stream, in milliseconds; a minute unless it is known otherwise. */
  readonly heartbeatMs?: number
}

export const TRADIER_CAPABILITIES = {
  id: parseBrokerId('TRADIER'),
  logoColor: '#7c3aed',
  logoInitials: 'Tr',
  ...USUAL,
  ...ORDER_OFFER,
  marketData: {
    ...USUAL_MARKET_DATA,
    channels: ['bars', 'trades', 'quotes', 'options_chain'],
    historyIntervals: ['1m', '5m', '15m', '1d'],
    historyDays: { '1m': 10, '5m': 18, '15m': 18 },
    // Built from its trades.
    liveIntervals: [],
    // The stream does not distinguish trades that count for the volume alone from those that set a price.
    liveVolume: 'priced',
    historyLagMs: 10_000,
    connections: 'one'
  },
  replacedOrderId: 'same',
  executions: false,
  deduplication: 'label'
} as const satisfies BrokerCapabilities

/** Tradier's practice accounts may lack either stream, which is then replaced by polling. */
function capabilitiesOf({ accountStream, marketStream }: TradierSettings): BrokerCapabilities {
  const { marketData } = TRADIER_CAPABILITIES
  return {
    ...TRADIER_CAPABILITIES,
    accountStream,
    // Polling finds the last trade, not every one of them; bars of a minute can be polled.
    marketData: marketStream
      ? marketData
      : { ...marketData, channels: ['bars', 'quotes', 'options_chain'], liveIntervals: ['1m'], liveVolume: 'all', everyTrade: false }
  }
}

const PER_MINUTE = (calls: number, reservedForOrders: number): RateLimits => ({
  ...{ perSecond: calls / 60, burst: calls, reservedForOrders, waitingMax: 500, waitMsMax: 5_000 }
})
/**
 * A minute's calls may go at once; Tradier reports with every answer how many of the minute are left. Previews leave half of the orders' to
 * orders.
 */
const QUOTAS: { readonly [environment in TradierSettings['environment']]: RestDefinition<Resource, Placing>['quotas'] } = {
  live: { standard: PER_MINUTE(120, 10), market: PER_MINUTE(120, 0), trading: PER_MINUTE(60, 30) },
  paper: { standard: PER_MINUTE(60, 10), market: PER_MINUTE(60, 0), trading: PER_MINUTE(60, 30) },
  // The sandbox brokerage reports its own limits.
  sandbox: { standard: PER_MINUTE(60_000, 100), market: PER_MINUTE(60_000, 0), trading: PER_MINUTE(60_000, 100) }
}
/** Tradier reports its time in whole seconds. */
const CLOCK_COARSE_MS = 2_000
/** Of Tradier's own sample of its account stream. */
const HEARTBEAT_MS = 60_000
/** Beyond it a list is a fault, never cut short. */
const PAGES_MAX = 100
/** Tradier's default length of a page: a shorter one is the last, whatever length was requested. */
const PAGE_FULL = 25
const PAGE_REQUESTED = '100'
const PAGE_LIMITS = [PAGE_FULL, Number(PAGE_REQUESTED)]

export function tradier(settings: TradierSettings, deps: BrokerDeps) {
  const { apiUrl, streamUrl, plain, environment, heartbeatMs = HEARTBEAT_MS, hours } = settings
  if (!plain && new URL(streamUrl).protocol !== 'wss:') throw new TypeError(`a broker's stream must be wss, was ${streamUrl}`)
  const definition: RestDefinition<Resource, Placing> = {
    capabilities: capabilitiesOf(settings),
    environment,
    plain,
    apiUrl,
    quotas: QUOTAS[environment],
    login: loginOf(settings),
    answers: {
      // A 401 that does not say what it is about: a read that every login may make shows whether it is about the token.
      unauthorized: reply => isTokenRefused(reply) || (reply.status === 401 && !isForeign(reply) && complaintOf(reply).form !== 'fault'),
      // A 404 and the gateway's faults also come when nothing is wrong.
      transient: reply => (complaintOf(reply).form === 'fault' ? 'unreachable' : reply.status === 404 ? 'refused' : null),
      limits: limitsOf,
      errorMessage: errorMessageOf
    },
    confirm: { resource: 'standard', request: get('/user/profile') },
    reads: TRADIER_READS,
    orders: TRADIER_ORDERS,
    tracksOrders: true,
    accountStreams: login => [accountStream({ url: streamUrl, heartbeatMs }, sessionFor('accounts', login))],
    market(login, market) {
      const stream = tradierStream({ url: streamUrl, session: sessionFor('markets', login), quietMs: heartbeatMs / 4 })
      return tradierMarket(hours, settings.marketStream ? stream : null, login, market)
    },
    coarseClockMs: CLOCK_COARSE_MS
  }
  return restBroker(definition, deps)
}

/** Those of the session, and whatever is still open. `filter=all` would get an application switched off that asks often. */
const ORDERS: OrderList<Resource> = {
  resource: 'standard',
  request: ({ account }, page) => get(accountPath(account, 'orders'), { includeTags: 'true', page: page ?? '1', limit: PAGE_REQUESTED }),
  page: numberedPages(PAGE_FULL, reply => parseOrders(requestedAnswer(reply))),
  pagesMax: PAGES_MAX,
  // Not cut at its default length: recorded with 27 rows in one answer.
  pageLimits: [Number(PAGE_REQUESTED)],
  keyOf: record => text(record, 'id', 64),
  brokerClOrdIdOf: record => textOf(record, 'tag'),
  items: (records, { account }, { readable }) => readable('orders', records, record => parseOrder(record, account), 'id')
}

export const HISTORY: ListRead<Resource, AccountQuery & { readonly from: Day; readonly to: Day }, TransactionReport> = {
  resource: 'standard',
  request: ({ account, from, to }, page) =>
    get(accountPath(account, 'history'), { start: from, end: to, page: page ?? '1', limit: PAGE_REQUESTED }),
  page: numberedPages(PAGE_FULL, reply => items(requestedAnswer(reply), 'history', 'event')),
  pagesMax: PAGES_MAX,
  pageLimits: PAGE_LIMITS,
  items(events, { from, to }, { readable, unknownValues }) {
    const { known, leftOut } = readable('transactions', events, event => parseEvent(event, unknownValues), 'type')
    // Only that some are missing is known: the type is no id.
    return { known: transactionsOf(known).filter(({ day }) => day >= from && day <= to), leftOut: leftOut.map(() => null) }
  }
}

const ACCOUNTS: ListRead<Resource, null, BrokerAccount> = {
  resource: 'standard',
  request: () => get('/user/profile'),
  page: reply => ({ records: parseProfile(requestedAnswer(reply)), next: null }),
  items: (accounts, _query, { readable }) => readable('accounts', accounts, parseAccount, 'account_number')
}

/** One that cannot be read leaves its position without a price. */
const PRICES: ListRead<Resource, readonly string[], ReturnType<typeof parsePrice>> = {
  resource: 'market',
  request: quotesRequest,
  page: reply => ({ records: items(requestedAnswer(reply), 'quotes', 'quote'), next: null }),
  items: (quotes, _query, { readable }) => readable('instruments', quotes, parsePrice, 'symbol')
}

export const TRADIER_READS: ReadDefinitions<Resource> = {
  accounts: ACCOUNTS,
  balances: answered<Resource, AccountQuery, BalanceReport>(
    'standard',
    ({ account }) => get(accountPath(account, 'balances')),
    requestedAnswer,
    (answer, { account }, { asOf }) => [parseBalances(answer, account, asOf)]
  ),
  async positions({ reads, log }, { account }, signal) {
    const { known, ...rest } = await reads.list(HOLDINGS, { account }, signal)
    const symbols = [...new Set(known.map(({ symbol }) => symbol))]
    const read = async (batch: readonly string[]) => new Map((await reads.list(PRICES, batch, signal)).known)
    const prices = await pricesOf(symbols, QUOTES_MAX, read, log)
    return { ...rest, known: known.map(holding => positionOf(holding, account, prices.get(holding.symbol) ?? null)) }
  },
  orders: ORDERS,
  orderList: ORDERS,
  order: {
    resource: 'standard',
    requests: key =>
      key.by === 'brokerOrderId' ? [get(accountPath(key.brokerAccountId, 'orders', key.brokerOrderId), { includeTags: 'true' })] : [],
    also: [400, 401, 404],
    absent: isUnknownOrder,
    records: reply => parseOrderAnswer(requestedAnswer(reply)),
    item: parseOrder,
    // Tradier reports orders as missing now and then that it has.
    absentPauseMs: 500
  },
  transactions: HISTORY
}

const READING = 'read,market,stream'
const TRADING = 'read,write,trade,market,stream'
/** Of a gateway's own message only the subject is known. */
const GRANT_REFUSED =
  /"invalid_grant"|invalid_refresh_token|refresh_token_expired|(?:invalid|expired|revoked) refresh token|refresh token (?:is )?(?:invalid|expired|revoked)/i

/** OAuth without PKCE, scopes between commas, a separate endpoint for refreshing. */
function loginOf({ apiUrl, authorizeUrl, clientId, clientSecret, sendRedirectUri }: TradierSettings): OAuthClient {
  return {
    ...{ clientId, clientSecret, sendRedirectUri },
    issuer: new URL(apiUrl).origin,
    authorizationEndpoint: authorizeUrl,
    tokenEndpoint: `${apiUrl}/oauth/accesstoken`,
    refreshEndpoint: `${apiUrl}/oauth/refreshtoken`,
    // None is documented: a grant ends with its token.
    revocationEndpoint: null,
    clientAuthentication: 'basic',
    issuerInRedirect: false,
    pkce: false,
    authorizationParameters: { response_type: null },
    scope: trading => (trading ? TRADING : READING),
    isGrantRefused: (status, body) => status < 500 && GRANT_REFUSED.test(body)
  }
}

const streamSetting = (name: 'ACCOUNT' | 'MARKET', what: string) =>
  ({
    env: `TRUNKLINE_TRADIER_${name}_STREAM`,
    fallback: 'auto',
    allowed: ['auto', '0', '1'],
    about: `\`1\` follows ${what} by Tradier’s stream, \`0\` by polling. \`auto\`: by the stream if the environment is \`live\`.`
  }) as const
const TABLE = {
  ...clientTable('TRADIER', 'Tradier', 'sandbox', '`live`, or `sandbox`, its own practice accounts'),
  accountStream: streamSetting('ACCOUNT', 'accounts'),
  marketStream: streamSetting('MARKET', 'prices')
} as const
const BROKER = { authorizeUrl: 'https://api.tradier.com/v1/oauth/authorize', sendRedirectUri: false } as const
const ENVIRONMENTS = {
  live: { environment: 'live', apiUrl: 'https://api.tradier.com/v1', streamUrl: 'wss://ws.tradier.com/v1' },
  sandbox: { environment: 'paper', apiUrl: 'https://sandbox.tradier.com/v1', streamUrl: 'wss://sandbox-ws.tradier.com/v1' }
} as const

const SETTINGS: BrokerSettings<TradierSettings, typeof TABLE> = {
  table: TABLE,
  choose(values) {
    const isOn = (value: string, fallback: boolean) => (value === 'auto' ? fallback : value === '1')
    const streams = (fallback: boolean) => ({
      accountStream: isOn(values.accountStream, fallback),
      marketStream: isOn(values.marketStream, fallback)
    })
    return clientChoice<Omit<TradierSettings, Exclude<keyof ClientSettings, 'apiUrl'>>>(TABLE, values, {
      atBroker: { ...ENVIRONMENTS[values.environment], ...BROKER, ...streams(values.environment === 'live') },
      atSandbox: ({ url, publicUrl }) => ({
        apiUrl: `${url}/tradier/v1`,
        streamUrl: webSocketUrl(`${url}/tradier/ws/v1`),
        authorizeUrl: `${publicUrl}/tradier/v1/oauth/authorize`,
        sendRedirectUri: true,
        ...streams(true)
      })
    })
  }
}

export const TRADIER = adapter(TRADIER_CAPABILITIES, SETTINGS, tradier)
