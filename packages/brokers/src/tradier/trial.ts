/** Whether a login is really over. Tradier answers 401 for a moment now and then, and for what a good login may not see, so one is no proof. */

import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { faultOf, isSuccess } from '../kit/calls.ts'
import type { HttpClient, HttpReply } from '../kit/http.ts'
import { oauthToken } from '../kit/oauth.ts'
import { profileRequest } from './requests.ts'

/** Between two tries at the profile, which every login may see. */
const PAUSES_MS = [0, 1_000, 2_000]
/** The end of a token, told by clocks that differ. */
const END_MS = 5_000

export interface TrialOptions {
  readonly http: HttpClient
  readonly base: string
  readonly clock: Clock
  readonly refresh: (credentials: Credentials, signal: AbortSignal) => Promise<Credentials>
}

export class Trial {
  readonly #options: TrialOptions

  constructor(options: TrialOptions) {
    this.#options = options
  }

  /**
   * New credentials. Tradier gives refresh tokens to some applications only; without one a token that has ended or is refused throughout is the
   * end of the login. @throws BrokerFault; `unreachable` when the token turns out to be good.
   */
  async renew(credentials: Credentials, signal: AbortSignal): Promise<Credentials> {
    if (credentials.refresh_token !== undefined) return await this.#options.refresh(credentials, signal)
    const { token, expiresAt } = oauthToken(credentials)
    if (this.#hasEnded(expiresAt) || !(await this.isGood(token, signal)))
      throw new BrokerFault(
        'credentials_rejected',
        'the access token has ended, and Tradier gives this application no refresh tokens: log in again'
      )
    throw new BrokerFault('unreachable', 'Tradier refused the access token and takes it now')
  }

  /** Asks for the profile some seconds long. @throws BrokerFault when Tradier says neither yes nor no. */
  async isGood(token: string, signal: AbortSignal): Promise<boolean> {
    for (const pause of PAUSES_MS) {
      const { status } = await this.#profile(token, pause, signal)
      if (isSuccess(status)) return true
      if (status !== 401 && status !== 403) throw new BrokerFault('unreachable', `Tradier answered ${status} when asked about the login`)
    }
    return false
  }

  async #profile(token: string, afterMs: number, signal: AbortSignal): Promise<HttpReply> {
    const { http, base, clock } = this.#options
    const request = profileRequest()
    try {
      if (afterMs > 0) await clock.sleep(afterMs, signal)
      return await http.send(
        { ...request, path: base + request.path, headers: ['authorization', `Bearer ${token}`, ...request.headers] },
        signal
      )
    } catch (cause) {
      throw faultOf(cause)
    }
  }

  #hasEnded(at: Timestamp | null): boolean {
    return at !== null && epochMs(at) - END_MS <= epochMs(this.#options.clock.now())
  }
}
