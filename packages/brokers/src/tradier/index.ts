/** Tradier as a broker: its parts put together. */

import type { AccountEvent, BrokerDefinition, CredentialsHolder } from '@trunkline/core/ports/broker'
import { confirming } from '../kit/confirm.ts'
import { ConnectLimiters } from '../kit/connect-limiters.ts'
import type { BrokerDeps } from '../kit/deps.ts'
import { readsAsEvents } from '../kit/event-streams.ts'
import { HttpClient, type HttpReply } from '../kit/http.ts'
import { oauthToken } from '../kit/oauth.ts'
import type { RateLimits } from '../kit/rate-limiter.ts'
import { READ_RETRIES } from '../kit/retry.ts'
import { hostOf } from '../kit/settings.ts'
import { SOCKET_LIMITS, type SocketOptions } from '../kit/socket.ts'
import { TokenSource } from '../kit/tokens.ts'
import { UnknownValueCounter } from '../kit/unknown-values.ts'
import { TradierBroker } from './broker.ts'
import { type ClassRates, classLimiters, TradierCalls } from './calls.ts'
import { TRADIER_CAPABILITIES, tradierCapabilities } from './capabilities.ts'
import { errorMessageOf, isTokenRefused } from './errors.ts'
import { KnownOrders } from './known-orders.ts'
import { tradierLogin } from './login.ts'
import { TradierMarket } from './market/source.ts'
import { TradierReads } from './reads.ts'
import { profileRequest, sessionRequest } from './requests.ts'
import { sessionOf, TradierStream } from './session.ts'
import type { TradierSettings } from './settings.ts'
import { readAnswer } from './wire.ts'

const WAITING = { waitingMax: 500, waitMsMax: 5_000 }
const PER_MINUTE = (calls: number, reservedForOrders: number): RateLimits => ({
  perSecond: calls / 60,
  burst: calls,
  reservedForOrders,
  ...WAITING
})
/** A minute's calls may go at once; how many of the minute are left Tradier reports with every answer, which is respected. Previews leave half of the orders' to orders. */
const RATES: { readonly [environment in TradierSettings['environment']]: ClassRates } = {
  live: { standard: PER_MINUTE(120, 10), market: PER_MINUTE(120, 0), trading: PER_MINUTE(60, 30) },
  paper: { standard: PER_MINUTE(60, 10), market: PER_MINUTE(60, 0), trading: PER_MINUTE(60, 30) },
  // The sandbox brokerage names its own limits.
  sandbox: { standard: PER_MINUTE(60_000, 100), market: PER_MINUTE(60_000, 0), trading: PER_MINUTE(60_000, 100) }
}
/** Of Tradier's own sample of its account stream. */
const HEARTBEAT_MS = 60_000

export type TradierDefinition = BrokerDefinition & AsyncDisposable

export function tradier(settings: TradierSettings, deps: BrokerDeps): TradierDefinition {
  const { clock, fraction, log, meter } = deps
  const { apiUrl, streamUrl, plain, environment, heartbeatMs = HEARTBEAT_MS } = settings
  const { origin, pathname: base } = new URL(apiUrl)
  if (!plain && new URL(streamUrl).protocol !== 'wss:') throw new TypeError(`a broker's stream must be wss, was ${streamUrl}`)
  const http = new HttpClient({ origin, plain })
  const login = tradierLogin({ http, ...settings, clock })
  const unknownValues = new UnknownValueCounter({ broker: TRADIER_CAPABILITIES.id, log, meter })
  const connectLimiters = new ConnectLimiters(clock)
  const socket: SocketOptions = { clock, fraction, log, connectLimiters, ...SOCKET_LIMITS }
  const capabilities = tradierCapabilities({ account: settings.accountStream, market: settings.marketStream })
  const calling = {
    http,
    base,
    retries: READ_RETRIES,
    deps: { clock, fraction },
    authorize: (token: string) => ['authorization', `Bearer ${token}`],
    // Any 401: one that is not about the token is found out by requesting the profile, which every login may see.
    unauthorized: (reply: HttpReply) => reply.status === 401 || isTokenRefused(reply),
    errorMessage: errorMessageOf
  }

  function open(holder: CredentialsHolder): TradierBroker {
    const limiters = classLimiters(RATES[environment], clock)
    const confirm = confirming({ ...calling, request: profileRequest(), limiters: [limiters.standard] })
    const tokens = new TokenSource({ holder, clock, log, tokenOf: oauthToken, refresh: login.refresh, confirm })
    const calls = new TradierCalls({ ...calling, tokens, limiters })
    const known = new KnownOrders()
    const reads = new TradierReads({ calls, clock, log, unknownValues, known })
    const session = (of: 'accounts' | 'markets') => (signal: AbortSignal) =>
      calls.read('standard', sessionRequest(of), reply => sessionOf(readAnswer(reply.body)), signal)
    const events = readsAsEvents(reads, clock)
    const stream = new TradierStream({
      url: streamUrl,
      heartbeatMs,
      clock,
      log,
      unknownValues,
      known,
      session: session('accounts'),
      reads: {
        order: (account, order, signal) => reads.ordersOf(account, order, signal),
        account: async (account, signal): Promise<readonly AccountEvent[]> => [
          await events.positions(account, signal),
          await events.balances(account, signal)
        ]
      }
    })
    const market = new TradierMarket({
      calls,
      clock,
      hours: settings.hours,
      stream: settings.marketStream ? { url: streamUrl, connection: socket, session: session('markets'), quietMs: heartbeatMs / 4 } : null
    })
    return new TradierBroker({ capabilities, calls, reads, tokens, known, clock, socket, market, stream })
  }

  return {
    capabilities,
    environment,
    host: hostOf(environment, apiUrl),
    login,
    open,
    async [Symbol.asyncDispose]() {
      connectLimiters[Symbol.dispose]()
      await http[Symbol.asyncDispose]()
    }
  }
}
