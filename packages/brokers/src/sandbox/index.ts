/** The sandbox brokerage as a broker: its parts put together. */

import type { BrokerDefinition, CredentialsHolder } from '@trunkline/core/ports/broker'
import { Calls } from '../kit/calls.ts'
import { ConnectLimiters } from '../kit/connect-limiters.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import { HttpClient, type HttpLimits } from '../kit/http.ts'
import { oauthToken } from '../kit/oauth.ts'
import { RateLimiter, type RateLimits } from '../kit/rate-limiter.ts'
import { READ_RETRIES } from '../kit/retry.ts'
import { hostOf } from '../kit/settings.ts'
import { SOCKET_LIMITS, type SocketOptions } from '../kit/socket.ts'
import { TokenSource } from '../kit/tokens.ts'
import { SandboxBroker, type SandboxParts } from './broker.ts'
import { SANDBOX_CAPABILITIES } from './capabilities.ts'
import { sandboxLogin } from './login.ts'
import { SandboxMarket } from './market/source.ts'
import { errorMessageOf, isTokenRefused } from './outcomes.ts'
import { SandboxStream } from './session.ts'
import type { SandboxSettings } from './settings.ts'

/** The sandbox reports no limits; these keep a runaway caller from overloading it, and a full burst of orders passes. */
const LOGIN_RATES: RateLimits = { perSecond: 2_000, burst: 2_000, reservedForOrders: 500, waitingMax: 2_000, waitMsMax: 2_000 }
const SANDBOX_RATES: RateLimits = { perSecond: 5_000, burst: 5_000, reservedForOrders: 1_000, waitingMax: 5_000, waitMsMax: 2_000 }
const HTTP: Partial<HttpLimits> = { connections: 64, requestsMax: 4_000 }

export type SandboxDefinition = BrokerDefinition & AsyncDisposable

export function sandbox(settings: SandboxSettings, deps: BrokerDeps): SandboxDefinition {
  const { clock, fraction, log } = deps
  const http = new HttpClient({ origin: settings.baseUrl, plain: true, limits: HTTP })
  const publicUrl = settings.publicUrl ?? http.origin
  const login = sandboxLogin({ http, clock, publicUrl, clientId: settings.clientId, clientSecret: settings.clientSecret })
  const shared = new RateLimiter(SANDBOX_RATES, clock)
  const connectLimiters = new ConnectLimiters(clock)
  const streams = http.origin.replace(/^http/, 'ws')
  const url = `${streams}/stream/v1`
  const socket: SocketOptions = { clock, fraction, log, connectLimiters, ...SOCKET_LIMITS }
  const calling = {
    http,
    retries: READ_RETRIES,
    deps: { clock, fraction },
    authorize: (token: string) => ['authorization', `Bearer ${token}`],
    unauthorized: isTokenRefused,
    errorMessage: errorMessageOf
  }

  function open(holder: CredentialsHolder): SandboxBroker {
    const tokens = new TokenSource({ holder, clock, log, tokenOf: oauthToken, refresh: login.refresh })
    const limiter = new RateLimiter(LOGIN_RATES, clock)
    const calls = new Calls({ ...calling, tokens, limiters: [limiter, shared] })
    const stream: SandboxParts['stream'] = positions => new SandboxStream({ url, tokens, clock, log, positions })
    const market = new SandboxMarket({ url: `${streams}/market/v1`, calls, tokens, connection: socket, clock })
    return new SandboxBroker({ calls, tokens, limiter, socket, market, stream })
  }

  return {
    capabilities: SANDBOX_CAPABILITIES,
    environment: 'sandbox',
    host: hostOf('sandbox', settings.baseUrl),
    login,
    open,
    async [Symbol.asyncDispose]() {
      shared[Symbol.dispose]()
      connectLimiters[Symbol.dispose]()
      await http[Symbol.asyncDispose]()
    }
  }
}
