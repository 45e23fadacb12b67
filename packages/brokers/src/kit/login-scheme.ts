/** How users log in, and how requests carry their token. */

import type { BrokerLogin, Credentials } from '@trunkline/core/ports/broker'
import type { AccessToken } from './tokens.ts'

export interface LoginScheme {
  readonly login: BrokerLogin
  readonly tokenOf: (credentials: Credentials) => AccessToken
  readonly refresh: (credentials: Credentials, signal: AbortSignal) => Promise<Credentials>
  /** Headers that carry the token, names and values alternating. */
  readonly authorize: (token: string) => readonly string[]
}
