/** TradeStation: what it can do, its settings and login, its reads, and how its parts fit together. */

import { parseBrokerId } from '@trunkline/core/domain/ids'
import { type BalanceReport, type BrokerCapabilities, BrokerFault } from '@trunkline/core/ports/broker'
import { USUAL, USUAL_MARKET_DATA } from '../kit/capabilities.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import type { RateLimits } from '../kit/rate-limiter.ts'
import { get } from '../kit/requests.ts'
import type { OAuthClient, ReadDefinitions } from '../kit/runtime/definition.ts'
import type { AccountQuery, ListRead } from '../kit/runtime/read-definitions.ts'
import { answered } from '../kit/runtime/reads.ts'
import { restBroker } from '../kit/runtime/rest-broker.ts'
import { adapter, type BrokerSettings, type ClientSettings, clientChoice, clientTable, type OpenedBroker } from '../kit/settings.ts'
import { accountStreams, COMPARE_MS, HEARTBEAT_MS, ORDER_READS } from './account-stream.ts'
import { parseBalances } from './codecs.ts'
import { tradestationMarket } from './market.ts'
import { tradestationStreams } from './market-stream.ts'
import { ACCOUNTS, type Action, ORDER_OFFER, POSITIONS, stateOf, TRADESTATION_ORDERS } from './orders.ts'
import { accountPath, errorMessageOf, isTokenRefused, limitsOf, ownRecords, type Resource, resetMs, wholeAnswer } from './quirks.ts'

/** `apiUrl` has the line streams too. */
export interface TradestationSettings extends ClientSettings {
  readonly authorizeUrl: string
  /** Below it `/token` and `/revoke`. */
  readonly oauthUrl: string
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
 * A quota of so many calls in any `windowS` seconds, of which some are left to those that an order waits for. Half of it may go at once and
 * the other half as time goes on: however these fall, no window has more.
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
      accountStreams: login => accountStreams({ apiUrl, heartbeatMs, compareMs }, login, stateOf(login).accounts),
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
  ...ORDER_READS,
  transactions: () => Promise.reject(new BrokerFault('refused', 'TradeStation has no transactions'))
}

/** What an access token is for, which the broker wants named whichever of its hosts it is used at. */
const AUDIENCE = 'https://api.tradestation.com'
const READING = 'openid offline_access profile MarketData ReadAccount Matrix'
const TRADING = `${READING} Trade OptionSpreads`

/** OAuth for confidential clients, without PKCE; refresh tokens last unless the key has them rotate. */
export function tradestationLogin({ authorizeUrl, oauthUrl, clientId, clientSecret }: TradestationSettings): OAuthClient {
  return {
    ...{ clientId, clientSecret },
    issuer: new URL(oauthUrl).origin,
    authorizationEndpoint: authorizeUrl,
    tokenEndpoint: `${oauthUrl}/token`,
    revocationEndpoint: `${oauthUrl}/revoke`,
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
const SIGN_IN = { authorizeUrl: 'https://signin.tradestation.com/authorize', oauthUrl: 'https://signin.tradestation.com/oauth' }

const SETTINGS: BrokerSettings<TradestationSettings, typeof TABLE> = {
  table: TABLE,
  choose: values =>
    clientChoice<Omit<TradestationSettings, Exclude<keyof ClientSettings, 'apiUrl'>>>(TABLE, values, {
      atBroker: { ...REAL[values.environment], ...SIGN_IN },
      atSandbox: ({ url, publicUrl }) => ({
        apiUrl: `${url}/tradestation/v3`,
        authorizeUrl: `${publicUrl}/tradestation/authorize`,
        oauthUrl: `${url}/tradestation/oauth`
      })
    })
}

export const TRADESTATION = adapter(TRADESTATION_CAPABILITIES, SETTINGS, tradestation)
