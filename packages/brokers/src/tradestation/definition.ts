/** TradeStation: what it can do, its settings and login, its reads, and how its parts fit together. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import { type Day, epochMs, parseDay, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { type BalanceReport, type BrokerCapabilities, BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import { isSuccess } from '../kit/calls.ts'
import { USUAL, USUAL_MARKET_DATA } from '../kit/capabilities.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import type { HttpReply } from '../kit/http.ts'
import { readObject } from '../kit/json.ts'
import { textOrNull, type Wire } from '../kit/parse.ts'
import type { RateLimits } from '../kit/rate-limiter.ts'
import { get } from '../kit/requests.ts'
import type { OAuthClient, OpenLogin, ReadDefinitions } from '../kit/runtime/definition.ts'
import type { WholeOrder } from '../kit/runtime/order-totals.ts'
import type { OrderTracker } from '../kit/runtime/order-tracker.ts'
import { perLogin } from '../kit/runtime/per-login.ts'
import type { AccountQuery, ListPage, ListRead, OrderContext } from '../kit/runtime/read-definitions.ts'
import { answered, mergedOrders } from '../kit/runtime/reads.ts'
import { restBroker } from '../kit/runtime/rest-broker.ts'
import { adapter, type BrokerSettings, type ClientSettings, clientChoice, clientTable, type OpenedBroker } from '../kit/settings.ts'
import { accountStreams, COMPARE_MS, HEARTBEAT_MS } from './account-stream.ts'
import { parseBalances, parseOrder, withRequestedSide } from './codecs.ts'
import { tradestationMarket } from './market.ts'
import { tradestationStreams } from './market-stream.ts'
import { ACCOUNTS, type Action, ORDER_OFFER, POSITIONS, stateOf, TRADESTATION_ORDERS } from './orders.ts'
import {
  accountPath,
  type BrokerError,
  clockOf,
  errorMessageOf,
  errorOf,
  errorsOf,
  isPassing,
  isTokenRefused,
  KnownLegs,
  limitsOf,
  ownRecords,
  type Resource,
  records,
  resetMs,
  wholeAnswer
} from './quirks.ts'

/** `apiUrl` has the line streams too. */
export interface TradestationSettings extends ClientSettings {
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly revokeUrl: string
  /** The heartbeat interval of streams, in milliseconds; left out: 5 s, as documented, and a little more. */
  readonly heartbeatMs?: number
  /** From one comparison of the order stream with the list of orders to the next, in milliseconds; left out: 15 s. */
  readonly compareMs?: number
}

export const TRADESTATION_CAPABILITIES = {
  id: parseBrokerId('TRADESTATION'),
  logoColor: '#1d5bd8',
  logoInitials: 'TS',
  ...USUAL,
  ...ORDER_OFFER,
  // The overnight session is a template of its bars only, and would put bars outside the broker's own hours.
  marketData: {
    ...USUAL_MARKET_DATA,
    // Only the previous API version has a search, and nothing else of it is used.
    symbolSearch: false,
    historyLagMs: 2_000,
    everyTrade: false
  },
  replacedOrderId: 'same',
  executions: false,
  revocation: 'customer',
  transactions: false,
  // It is sent so that the broker takes it once, but it is neither reported back nor searchable.
  deduplication: 'none',
  brokerClOrdId: { lengthMax: 22, alphabet: 'alphanumeric' }
} as const satisfies BrokerCapabilities

/** Connections per second: each login has two account streams, and one for each topic. */
const CONNECTS = 20
const WINDOW_S = 300
/**
 * A quota of so many calls in any `windowS` seconds, of which some are left to those that an order waits for. Half of it may go at once and the
 * other half as time goes on: however these fall, no window has more.
 */
function quota(calls: number, windowS = WINDOW_S, reservedForOrders = 0): RateLimits {
  return { perSecond: calls / 2 / windowS, burst: calls / 2, reservedForOrders, waitingMax: 500, waitMsMax: 10_000 }
}
const QUOTAS: { readonly [resource in Resource]: RateLimits } = {
  /** No quota of orders is published: this keeps a runaway caller from being the one who finds it. Previews leave half to orders. */
  commands: { perSecond: 50, burst: 200, reservedForOrders: 100, waitingMax: 500, waitMsMax: 5_000 },
  ...{ accounts: quota(320), balances: quota(320) },
  // An order of shares reads the position before it.
  ...{ positions: quota(320, WINDOW_S, 60), orders: quota(320, WINDOW_S, 60) },
  ...{ quotes: quota(500), bars: quota(500), symbols: quota(500), quote_streams: quota(500), bar_streams: quota(500) },
  // Openings of chains count as well.
  ...{ options: quota(90, 60), depth_streams: quota(30, 60) }
}
/** Pages of a list; beyond it the list is a fault, never cut short. */
const PAGES_MAX = 100
/** The most that a page holds. */
const PAGE = '600'
const DAY_MS = 86_400_000
/** The broker keeps closed orders for 90 days; an older day is refused. */
const RETENTION_DAYS = 89
/** Days begin somewhere between our clock and the exchange's, so one more day is requested. */
const DAYS_APART = 1

export function tradestation(settings: TradestationSettings, deps: BrokerDeps): OpenedBroker {
  const { apiUrl, environment, plain, hours, heartbeatMs = HEARTBEAT_MS, compareMs = COMPARE_MS } = settings
  return restBroker<Resource, Action>(
    {
      capabilities: TRADESTATION_CAPABILITIES,
      environment,
      plain,
      apiUrl,
      // A page of five days of minutes has some megabytes.
      httpLimits: { connections: 128, requestsMax: 4_000, bodyMax: 8 * 1024 * 1024 },
      connectsPerSecond: CONNECTS,
      quotas: QUOTAS,
      login: tradestationLogin(settings),
      answers: { unauthorized: isTokenRefused, limits: limitsOf, requestedPauseMs: resetMs, errorMessage: errorMessageOf },
      // A 401 may be about a scope that the login does not have, which says nothing about the token.
      confirm: { resource: 'accounts', request: get('/brokerage/accounts') },
      reads: TRADESTATION_READS,
      orders: TRADESTATION_ORDERS,
      tracksOrders: true,
      accountStreams(login) {
        const options = {
          ...{ apiUrl, heartbeatMs, compareMs, parse: (wire: Wire) => parsed(wire, login) },
          list: async (accounts: string, signal: AbortSignal) => (await login.reads.list(present(login), { accounts }, signal)).known,
          order: (account: string, order: string, signal: AbortSignal) => readParsed(login, account, order, signal)
        }
        return accountStreams(options, login, stateOf(login).accounts)
      },
      market: (login, { clock }) => tradestationMarket(hours, tradestationStreams({ apiUrl, hours, heartbeatMs }, login, clock), login)
    },
    deps
  )
}

/** One record a currency, of which the account's own is not in the answer. */
function balancesIn(currency: string | null): ListRead<Resource, AccountQuery, BalanceReport> {
  return answered(
    'balances',
    ({ account }) => get(`${accountPath(account)}/balances`),
    wholeAnswer,
    (answer, { account }, { asOf }) => {
      const found = ownRecords(answer, 'Balances', account)
      if (found.length !== 1) throw new BrokerFault('malformed', `the broker has ${found.length} balances of one account`)
      if (currency === null) throw new BrokerFault('refused', 'the account’s currency is not known: the login does not list it')
      return found.flatMap(wire => parseBalances(wire, currency, asOf))
    }
  )
}

/** One order as it is sent, in lists and streams alike. @throws Malformed */
function parsed(wire: Wire, { clock, tracker }: OrderContext): WholeOrder {
  const { order, isPartial } = legsOf(tracker).completed(wire)
  const report = withRequestedSide(parseOrder(order, clock.now()), tracker)
  return isPartial ? { ...report, isUnresolved: true } : report
}

/** The legs that a login's orders were last sent with. */
const legsOf = perLogin((_tracker: OrderTracker) => new KnownLegs())

function pageOf(reply: HttpReply): ListPage {
  const answer = wholeAnswer(reply)
  const next = answer.NextToken === '' ? null : textOrNull(answer, 'NextToken')
  return { records: records(answer, 'Orders'), next, ...clockOf(reply) }
}

function ordersAt<Query>(
  login: OrderContext,
  request: (query: Query, nextToken: string | null) => ReturnType<typeof get>
): ListRead<Resource, Query, WholeOrder> {
  return {
    resource: 'orders',
    request,
    page: pageOf,
    pagesMax: PAGES_MAX,
    items: (found, _query, { readable }) => readable('orders', found, wire => parsed(wire, login), 'OrderID')
  }
}

/** Of today, and whatever is open; of one account or several, with commas. */
export const present = (login: OrderContext) =>
  ordersAt(login, ({ accounts }: { readonly accounts: string }, nextToken) =>
    get(`${accountPath(accounts)}/orders`, { pageSize: PAGE, nextToken })
  )

/** Closed ones since a day. */
const past = (login: OrderContext) =>
  ordersAt(login, ({ account, since }: AccountQuery & { readonly since: Day }, nextToken) =>
    get(`${accountPath(account)}/historicalorders`, { since, pageSize: PAGE, nextToken })
  )

function dayBefore(now: Timestamp, days: number): Day {
  const ms = epochMs(now) - Math.min(RETENTION_DAYS, Math.ceil(days)) * DAY_MS
  return parseDay(timestampOfMs(ms).slice(0, 10), 'since')
}

export const TRADESTATION_READS: ReadDefinitions<Resource> = {
  async accounts(login, _query, signal) {
    const accounts = await login.reads.list(ACCOUNTS, null, signal)
    stateOf(login).accounts.update(accounts)
    return accounts
  },
  async balances(login, query, signal) {
    const currency = await stateOf(login).accounts.currencyOf(query.account, signal)
    return await login.reads.list(balancesIn(currency), query, signal)
  },
  positions: POSITIONS,
  async orders(login, { account, since }, signal) {
    const open = await login.reads.list(present(login), { accounts: account }, signal)
    const day = dayBefore(open.asOf, DAYS_APART + Math.max(0, epochMs(open.asOf) - epochMs(since)) / DAY_MS)
    // After the others: an order that leaves the list of today in between is in this one.
    const closed = await login.reads.list(past(login), { account, since: day }, signal)
    const recent = closed.known.filter(({ report }) => report.updatedAt >= since)
    const merged = mergedOrders({ ...open, known: open.known.map(reportOf) }, { ...closed, known: recent.map(reportOf) })
    return { ...open, ...merged }
  },
  orderList: null,
  order: {
    resource: 'orders',
    // Among those of today and the open ones, and then among the closed ones.
    requests: (key, now) =>
      key.by === 'brokerOrderId'
        ? [
            get(`${accountPath(key.brokerAccountId)}/orders/${encodeURIComponent(key.brokerOrderId)}`),
            get(`${accountPath(key.brokerAccountId)}/historicalorders/${encodeURIComponent(key.brokerOrderId)}`, {
              since: dayBefore(now, RETENTION_DAYS)
            })
          ]
        : [],
    also: [400, 404],
    absent: isAbsent,
    records: oneOrder,
    item: (record, _account, login) => parsed(record, login).report,
    // Ids come with dashes in places and without in others.
    comparable: id => id.replaceAll('-', '')
  },
  transactions: () => Promise.reject(new BrokerFault('refused', 'TradeStation has no transactions'))
}

function reportOf({ report }: WholeOrder): OrderReport {
  return report
}

function oneOrder({ body }: HttpReply): readonly Wire[] {
  const found = records(readObject(body), 'Orders')
  if (found.length > 1) throw new BrokerFault('malformed', 'the broker answered with another order')
  return found
}

/** Only an answer of the broker about the order itself proves an absence. @throws BrokerFault for any other error, and for none at all */
function isAbsent(reply: HttpReply): boolean {
  const answer = readObject(reply.body)
  if (isSuccess(reply.status) && records(answer, 'Orders').length > 0) return false
  const errors: readonly BrokerError[] = isSuccess(reply.status) ? errorsOf(answer) : [errorOf(answer)]
  const [error] = errors
  if (error === undefined) throw new BrokerFault('malformed', 'the broker answered with neither an order nor an error')
  if (isPassing(error)) throw new BrokerFault('unreachable', `the broker could not look for the order: ${error.message}`)
  if (error.code === 'NotFound' || /order/i.test(error.message)) return true
  throw new BrokerFault('refused', `the broker refused to look for the order: ${error.message}`)
}

/** An order of today as the stream compares it; null when the broker has none. @throws BrokerFault */
function readParsed(login: OpenLogin<Resource>, account: string, order: string, signal: AbortSignal): Promise<WholeOrder | null> {
  const request = get(`${accountPath(account)}/orders/${encodeURIComponent(order)}`)
  const read = (reply: HttpReply) => {
    if (isAbsent(reply)) return null
    const [record = {}] = oneOrder(reply)
    return parsed(record, login)
  }
  return login.calls.of('orders').read(request, read, signal, { also: [400, 404] })
}

/** What an access token is for, which the broker wants named whichever of its hosts it is used at. */
const AUDIENCE = 'https://api.tradestation.com'
const READING = 'openid offline_access profile MarketData ReadAccount Matrix'
const TRADING = `${READING} Trade OptionSpreads`

/** OAuth for confidential clients, without PKCE; refresh tokens last unless the key has them rotate. */
export function tradestationLogin({ authorizeUrl, tokenUrl, revokeUrl, clientId, clientSecret }: TradestationSettings): OAuthClient {
  return {
    ...{ clientId, clientSecret },
    issuer: new URL(tokenUrl).origin,
    authorizationEndpoint: authorizeUrl,
    tokenEndpoint: tokenUrl,
    revocationEndpoint: revokeUrl,
    revocationBody: 'json',
    clientAuthentication: 'post',
    issuerInRedirect: false,
    pkce: false,
    scope: trading => (trading ? TRADING : READING),
    authorizationParameters: { audience: AUDIENCE }
  }
}

const CLIENT = clientTable('TRADESTATION', 'TradeStation', 'sim', '`live`, or `sim`, its simulated accounts')
const TABLE = {
  ...CLIENT,
  clientId: { ...CLIENT.clientId, about: CLIENT.clientId.about.replace('client id', 'client id (API key)') }
} as const
const REAL = {
  live: { environment: 'live', apiUrl: 'https://api.tradestation.com/v3' },
  sim: { environment: 'paper', apiUrl: 'https://sim-api.tradestation.com/v3' }
} as const
const SIGN_IN = {
  authorizeUrl: 'https://signin.tradestation.com/authorize',
  tokenUrl: 'https://signin.tradestation.com/oauth/token',
  revokeUrl: 'https://signin.tradestation.com/oauth/revoke'
} as const

const SETTINGS: BrokerSettings<TradestationSettings, typeof TABLE> = {
  table: TABLE,
  choose: values =>
    clientChoice<Omit<TradestationSettings, Exclude<keyof ClientSettings, 'apiUrl'>>>(TABLE, values, {
      atBroker: { ...REAL[values.environment], ...SIGN_IN },
      atSandbox: ({ url, publicUrl }) => ({
        apiUrl: `${url}/tradestation/v3`,
        authorizeUrl: `${publicUrl}/tradestation/authorize`,
        tokenUrl: `${url}/tradestation/oauth/token`,
        revokeUrl: `${url}/tradestation/oauth/revoke`
      })
    })
}

export const TRADESTATION = adapter(TRADESTATION_CAPABILITIES, SETTINGS, tradestation)
