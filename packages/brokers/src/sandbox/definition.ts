/** The sandbox brokerage: what it can do, its settings and login, its reads, and how its parts fit together. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import { type Day, epochMs, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { BrokerCapabilities, OrderReport } from '@trunkline/core/ports/broker'
import { USUAL, USUAL_MARKET_DATA } from '../kit/capabilities.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import { nested, timestamp, type Wire } from '../kit/parse.ts'
import type { RateLimits } from '../kit/rate-limiter.ts'
import type { RecordKind } from '../kit/record-lists.ts'
import type { Query } from '../kit/requests.ts'
import type { ReadDefinitions } from '../kit/runtime/definition.ts'
import type { AccountQuery, ListContext, ListRead } from '../kit/runtime/read-definitions.ts'
import { mergedOrders } from '../kit/runtime/reads.ts'
import { restBroker } from '../kit/runtime/rest-broker.ts'
import { type Adapter, adapter, type OpenedBroker, webSocketUrl } from '../kit/settings.ts'
import { accountStream } from './account-stream.ts'
import {
  errorMessageOf,
  isUnknown,
  pageOf,
  parseAccount,
  parseBalance,
  parseOrder,
  parsePosition,
  parseTransaction,
  readAnswer
} from './codecs.ts'
import { sandboxMarket } from './market.ts'
import { marketFeed } from './market-stream.ts'
import { get, ORDER_OFFER, SANDBOX_ORDERS } from './orders.ts'

export interface SandboxSettings {
  /** Where the sandbox is reached, without a trailing slash. Plain `http:` is allowed: it runs beside us. */
  readonly baseUrl: string
  /** The origin that browsers see, where it differs. */
  readonly publicUrl?: string
  readonly clientId: string
  readonly clientSecret: string
}

export const SANDBOX_CAPABILITIES = {
  id: parseBrokerId('SANDBOX'),
  logoColor: '#1f6f5c',
  logoInitials: 'Sb',
  ...USUAL,
  ...ORDER_OFFER,
  sessions: [...USUAL.sessions, 'USEq24Hour'],
  marketData: { ...USUAL_MARKET_DATA, dailySessions: ['USEqCore'], historyLagMs: 0, streamNumbered: true, connections: 'one' },
  replacedOrderId: 'new',
  accountStreamNumbered: true,
  executions: true,
  revocation: 'grant',
  deduplication: 'enforced'
} as const satisfies BrokerCapabilities

/** The sandbox reports no limits; these keep a runaway caller from overloading it, and a full burst of orders passes. */
const LOGIN_RATES: RateLimits = { perSecond: 2_000, burst: 2_000, reservedForOrders: 500, waitingMax: 2_000, waitMsMax: 2_000 }
const SANDBOX_RATES: RateLimits = { perSecond: 5_000, burst: 5_000, reservedForOrders: 1_000, waitingMax: 5_000, waitMsMax: 2_000 }
/** Pages of a list; beyond it the list is a fault, never cut short. */
const PAGES_MAX = 400
/** The most that a page holds; only requests for lists that can be long have it. */
const PAGE = '500'
/** Sandbox time this far behind real time is another era (a replay, a clock set back), where `since` means nothing. */
const CLOCKS_APART_MS = 5_000

export function sandbox({ baseUrl, publicUrl = baseUrl, clientId, clientSecret }: SandboxSettings, deps: BrokerDeps): OpenedBroker {
  const { origin } = new URL(baseUrl)
  const streams = webSocketUrl(origin)
  const issuer = `${publicUrl}/oauth`
  return restBroker<'api', null>(
    {
      capabilities: SANDBOX_CAPABILITIES,
      environment: 'sandbox',
      plain: true,
      apiUrl: baseUrl,
      httpLimits: { connections: 64, requestsMax: 4_000 },
      quotas: { api: LOGIN_RATES },
      sharedRates: SANDBOX_RATES,
      login: {
        ...{ issuer, clientId, clientSecret },
        authorizationEndpoint: `${issuer}/auth`,
        tokenEndpoint: `${origin}/oauth/token`,
        revocationEndpoint: `${origin}/oauth/token/revocation`,
        clientAuthentication: 'basic',
        issuerInRedirect: true,
        scope: trading => (trading ? 'read trade' : 'read')
      },
      answers: { unauthorized: ({ status }) => status === 401, errorMessage: errorMessageOf },
      reads: SANDBOX_READS,
      orders: SANDBOX_ORDERS,
      accountStreams: login => [accountStream(`${streams}/stream/v1`, login)],
      market: (login, { clock }) => sandboxMarket(marketFeed(`${streams}/market/v1`, login, clock))
    },
    deps
  )
}

/** A list in pages, each of which names the next; `idKey`: the field of a record's id. */
function paged<Q, T>(
  kind: RecordKind,
  idKey: string,
  request: (query: Q) => readonly [path: string, query: Query],
  item: (record: Wire, context: ListContext) => T
): ListRead<'api', Q, T> {
  return {
    resource: 'api',
    request(query, cursor) {
      const [path, fields] = request(query)
      return get(path, { ...fields, cursor })
    },
    page: pageOf,
    pagesMax: PAGES_MAX,
    items: (records, _query, context) => context.readable(kind, records, record => item(record, context), idKey)
  }
}

interface OrdersInState {
  readonly account: string
  readonly state: 'open' | 'all'
  /** Sandbox time of the order's arrival; null requests all. */
  readonly since: Timestamp | null
}

export const ACCOUNTS = paged('accounts', 'id', (_query: null) => ['/accounts', {}], parseAccount)
export const BALANCES = paged(
  'balances',
  'account',
  ({ account }: AccountQuery) => ['/balances', { account }],
  (wire, { asOf }) => parseBalance(wire, asOf)
)
export const TRANSACTIONS = paged(
  'transactions',
  'id',
  ({ account, from, to }: AccountQuery & { readonly from: Day; readonly to: Day }) => ['/transactions', { account, from, to, limit: PAGE }],
  parseTransaction
)
export const ORDERS = paged<OrdersInState, OrderReport>('orders', 'id', query => ['/orders', { ...query, limit: PAGE }], parseOrder)
export const POSITIONS = paged('positions', 'symbol', ({ account }: AccountQuery) => ['/positions', { account }], parsePosition)

export const SANDBOX_READS: ReadDefinitions<'api'> = {
  accounts: ACCOUNTS,
  balances: BALANCES,
  positions: POSITIONS,
  /**
   * The open ones first and then those that arrived since, so that an order that ends between the two is seen ended. An order that arrived
   * before `since` and ended after it is in neither list: the sandbox cannot list changes. A look-up finds it.
   */
  async orders({ reads }, { account, since }, signal) {
    const open = await reads.list(ORDERS, { account, state: 'open', since: null }, signal)
    const isThisEra = open.brokerClock !== undefined && epochMs(open.brokerClock) >= epochMs(open.asOf) - CLOCKS_APART_MS
    const from = isThisEra ? timestampOfMs(Math.max(0, epochMs(since) - CLOCKS_APART_MS)) : null
    return mergedOrders(open, await reads.list(ORDERS, { account, state: 'all', since: from }, signal))
  },
  orderList: null,
  order: {
    resource: 'api',
    requests: key => [
      key.by === 'brokerClOrdId'
        ? get('/orders/find', { client_order_id: key.brokerClOrdId, account: key.brokerAccountId })
        : get(`/orders/${encodeURIComponent(key.brokerOrderId)}`)
    ],
    also: [404],
    absent: ({ status, body }) => status === 404 && isUnknown('order', readAnswer(body)),
    records: ({ body }) => [nested(readAnswer(body), 'order')],
    item: parseOrder,
    asOf: ({ body }) => timestamp(readAnswer(body), 'as_of')
  },
  transactions: TRANSACTIONS
}

/** No own settings: the sandbox's address and our client there hold for every broker that it stands in for. */
export const SANDBOX: Adapter = adapter(
  SANDBOX_CAPABILITIES,
  { table: {}, choose: () => ({ at: 'sandbox', settings: ({ url, ...rest }) => ({ baseUrl: url, ...rest }) }) },
  sandbox
)
