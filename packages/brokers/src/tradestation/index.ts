/** TradeStation as a broker: its parts put together. */

import type { BrokerDefinition, CredentialsHolder } from '@trunkline/core/ports/broker'
import { Calls } from '../kit/calls.ts'
import { confirming } from '../kit/confirm.ts'
import { ConnectLimiters } from '../kit/connect-limiters.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import { HttpClient, type HttpLimits } from '../kit/http.ts'
import { oauthToken } from '../kit/oauth.ts'
import { READ_RETRIES } from '../kit/retry.ts'
import { hostOf } from '../kit/settings.ts'
import { SOCKET_LIMITS, type SocketOptions } from '../kit/socket.ts'
import { TokenSource } from '../kit/tokens.ts'
import { UnknownValueCounter } from '../kit/unknown-values.ts'
import { errorMessageOf, isTokenRefused } from './answers.ts'
import { TradestationBroker } from './broker.ts'
import { TRADESTATION_CAPABILITIES } from './capabilities.ts'
import { limitsOf, Quotas, type Resource, resetMs } from './limits.ts'
import { tradestationLogin } from './login.ts'
import { TradestationMarket } from './market/source.ts'
import { COMPARE_MS } from './orders-stream.ts'
import { accountsRequest } from './requests.ts'
import type { TradestationSettings } from './settings.ts'
import { HEARTBEAT_MS } from './stream.ts'

export type { TradestationSettings } from './settings.ts'

/** Connections per second: each login has two account streams, and one for each topic. */
const CONNECTS = 20
/** A page of five days of minutes is some megabytes long. */
const HTTP: Partial<HttpLimits> = { connections: 128, requestsMax: 4_000, bodyMax: 8 * 1024 * 1024 }

export function tradestation(settings: TradestationSettings, deps: BrokerDeps): BrokerDefinition & AsyncDisposable {
  const { clock, fraction, log, meter } = deps
  const { apiUrl, plain, environment, heartbeatMs = HEARTBEAT_MS, compareMs = COMPARE_MS } = settings
  const http = new HttpClient({ origin: apiUrl, plain, limits: HTTP })
  const signIn = new HttpClient({ origin: settings.tokenUrl, plain })
  const login = tradestationLogin(settings, signIn, clock)
  const unknownValues = new UnknownValueCounter({ broker: TRADESTATION_CAPABILITIES.id, log, meter })
  const connectLimiters = new ConnectLimiters(clock, CONNECTS)
  const socket: SocketOptions = { clock, fraction, log, connectLimiters, ...SOCKET_LIMITS }
  const base = new URL(apiUrl).pathname
  const asking = {
    http,
    base,
    authorize: (token: string) => ['authorization', `Bearer ${token}`],
    unauthorized: isTokenRefused
  }
  const calling = {
    ...asking,
    retries: READ_RETRIES,
    deps: { clock, fraction },
    errorMessage: errorMessageOf,
    limits: limitsOf,
    requestedPauseMs: resetMs
  }

  function open(holder: CredentialsHolder): TradestationBroker {
    const quotas = new Quotas(clock)
    // A 401 may be about a scope that the login does not have, which says nothing about the token.
    const confirm = confirming({ ...asking, request: accountsRequest(), limiters: [quotas.of('accounts')] })
    const tokens = new TokenSource({ holder, clock, log, tokenOf: oauthToken, refresh: login.refresh, confirm })
    const made = new Map<Resource, Calls>()
    function callsOf(resource: Resource): Calls {
      const known = made.get(resource)
      if (known !== undefined) return known
      const calls = new Calls({ ...calling, tokens, limiters: [quotas.of(resource)] })
      made.set(resource, calls)
      return calls
    }
    const market = new TradestationMarket({
      apiUrl,
      hours: settings.hours,
      callsOf,
      opensOf: resource => quotas.of(resource),
      tokens,
      connection: socket,
      clock,
      heartbeatMs
    })
    return new TradestationBroker({ apiUrl, callsOf, tokens, quotas, socket, market, clock, log, unknownValues, heartbeatMs, compareMs })
  }

  return {
    capabilities: TRADESTATION_CAPABILITIES,
    environment,
    host: hostOf(environment, apiUrl),
    login,
    open,
    async [Symbol.asyncDispose]() {
      connectLimiters[Symbol.dispose]()
      await Promise.all([http[Symbol.asyncDispose](), signIn[Symbol.asyncDispose]()])
    }
  }
}
