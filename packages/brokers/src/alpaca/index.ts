/** Alpaca as a broker: its parts put together. */

import type { BrokerCapabilities, BrokerDefinition, CredentialsHolder } from '@trunkline/core/ports/broker'
import { type CallOptions, Calls } from '../kit/calls.ts'
import { confirming } from '../kit/confirm.ts'
import { ConnectLimiters } from '../kit/connect-limiters.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import { HttpClient, type HttpLimits, type HttpReply, header } from '../kit/http.ts'
import { type BrokerLimits, RateLimiter, type RateLimits } from '../kit/rate-limiter.ts'
import { READ_RETRIES } from '../kit/retry.ts'
import { hostOf } from '../kit/settings.ts'
import { SOCKET_LIMITS, type SocketOptions } from '../kit/socket.ts'
import { TokenSource } from '../kit/tokens.ts'
import { UnknownValueCounter } from '../kit/unknown-values.ts'
import { AlpacaBroker } from './broker.ts'
import { alpacaCapabilities } from './capabilities.ts'
import { authSchemeOf } from './login.ts'
import { AlpacaMarket } from './market/source.ts'
import { errorMessageOf, isUnauthorized } from './outcomes.ts'
import { accountRequest } from './requests.ts'
import { AlpacaStream } from './session.ts'
import type { AlpacaSettings } from './settings.ts'

/** 200 requests a minute and account, at each of the two hosts. What Alpaca reports of its limit with each answer takes precedence. */
const TRADING_RATES: RateLimits = { perSecond: 3, burst: 100, reservedForOrders: 40, waitingMax: 500, waitMsMax: 5_000 }
const DATA_RATES: RateLimits = { perSecond: 3, burst: 100, reservedForOrders: 0, waitingMax: 500, waitMsMax: 15_000 }
/** The sandbox accepts more, and reports its limits as well: what is reserved for orders must fit into those. */
const AT_SANDBOX: Partial<RateLimits> = { perSecond: 2_000, burst: 2_000, waitingMax: 2_000, waitMsMax: 2_000 }
/** A page of ten thousand bars has about two megabytes. */
const HTTP: Partial<HttpLimits> = { connections: 64, requestsMax: 4_000, bodyMax: 8 * 1024 * 1024 }

export type AlpacaDefinition = BrokerDefinition & AsyncDisposable

export function alpaca(settings: AlpacaSettings, deps: BrokerDeps): AlpacaDefinition {
  const { clock, fraction, log, meter } = deps
  const { plain, environment } = settings
  const clientOf = (url: string) => new HttpClient({ origin: url, plain, limits: HTTP })
  const http = { trading: clientOf(settings.tradingUrl), data: clientOf(settings.dataUrl), tokens: clientOf(settings.tokenUrl) }
  const base = { trading: pathOf(settings.tradingUrl), data: pathOf(settings.dataUrl) }
  const capabilities: BrokerCapabilities = { ...alpacaCapabilities(environment), login: settings.login === 'api_key' ? 'api_key' : 'oauth' }
  const authScheme = authSchemeOf(settings, { tokens: http.tokens, clock })
  const unknownValues = new UnknownValueCounter({ broker: capabilities.id, log, meter })
  const connectLimiters = new ConnectLimiters(clock)
  const socket: SocketOptions = { clock, fraction, log, connectLimiters, ...SOCKET_LIMITS }
  const calling: Omit<CallOptions, 'http' | 'base' | 'tokens' | 'limiters'> = {
    retries: READ_RETRIES,
    deps: { clock, fraction },
    authorize: authScheme.authorize,
    unauthorized: isUnauthorized,
    limits: limitsOf,
    errorMessage: errorMessageOf
  }
  const overrides = environment === 'sandbox' ? AT_SANDBOX : {}

  function open(holder: CredentialsHolder): AlpacaBroker {
    const limiters = {
      trading: new RateLimiter({ ...TRADING_RATES, ...overrides }, clock),
      data: new RateLimiter({ ...DATA_RATES, ...overrides }, clock)
    }
    const { tokenOf, refresh, authorize, accountHello, marketHello } = authScheme
    // One answer may be a passing failure, and some hosts have their own reasons: the answer to the account request decides.
    const confirm = confirming({
      ...{ http: http.trading, base: base.trading, request: accountRequest, authorize, unauthorized: isUnauthorized },
      limiters: [limiters.trading]
    })
    const tokens = new TokenSource({ holder, clock, log, tokenOf, refresh, confirm })
    const calls = new Calls({ ...calling, http: http.trading, base: base.trading, tokens, limiters: [limiters.trading] })
    const data = new Calls({ ...calling, http: http.data, base: base.data, tokens, limiters: [limiters.data] })
    return new AlpacaBroker({
      ...{ capabilities, calls, tokens, socket, unknownValues, clock },
      limiters: Object.values(limiters),
      market: new AlpacaMarket({ calls: { trading: calls, data }, tokens, hello: marketHello, settings, connection: socket, clock, log }),
      stream: reads =>
        new AlpacaStream({
          url: `${socketUrl(settings.tradingUrl)}/stream`,
          pingMs: settings.pingMs,
          tokens,
          hello: accountHello,
          clock,
          log,
          unknownValues,
          reads
        })
    })
  }

  return {
    capabilities,
    environment,
    host: hostOf(environment, settings.tradingUrl),
    login: authScheme.login,
    open,
    async [Symbol.asyncDispose]() {
      connectLimiters[Symbol.dispose]()
      await Promise.all(Object.values(http).map(client => client[Symbol.asyncDispose]()))
    }
  }
}

/** What comes before every path; empty where the address is a host. */
function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '')
}

function socketUrl(url: string): string {
  return url.replace(/^http/, 'ws')
}

/** `X-RateLimit-Reset` is in seconds since the epoch. */
export function limitsOf(reply: HttpReply, nowMs: number): BrokerLimits | null {
  const [remaining, reset, limit] = ['x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-limit'].map(name => {
    const value = header(reply, name)
    return value !== null && /^\d{1,12}$/.test(value) ? Number(value) : null
  })
  if (typeof remaining !== 'number' || typeof reset !== 'number') return null
  const resetInMs = Math.max(0, reset * 1_000 - nowMs)
  return typeof limit === 'number' ? { remaining, resetInMs, limit } : { remaining, resetInMs }
}
