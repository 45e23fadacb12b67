/** Login with keys that the user created at the broker: read from a form, stored as credentials, sent as headers. */

import { type ApiKeyBrokerLogin, type ApiKeyField, BrokerFault, type Credentials, LoginRefused } from '@trunkline/core/ports/broker'
import type { LoginScheme } from './login-scheme.ts'

export interface ApiKeyPart extends ApiKeyField {
  /** Request header that carries it. */
  readonly header: string
  /** The required format, as shown to the user: `26 letters and digits`. */
  readonly form: string
  readonly pattern: RegExp
}

export interface ApiKeyOptions {
  readonly parts: readonly ApiKeyPart[]
  readonly helpUrl: string | null
}

/** All keys are one token. They cannot be renewed: only the user can create others. */
export interface ApiKeys extends LoginScheme {
  readonly login: ApiKeyBrokerLogin
  /** The keys of such a token, in the order of the parts. */
  readonly keysOf: (token: string) => readonly string[]
}

/** Occurs in no key: a key may not contain spaces or control characters. */
const BETWEEN = '\n'
const PRINTABLE = /^[\x21-\x7e]+$/

export function apiKeys({ parts, helpUrl }: ApiKeyOptions): ApiKeys {
  const keysOf = (token: string) => token.split(BETWEEN)
  const login: ApiKeyBrokerLogin = {
    kind: 'api_key',
    fields: parts.map(({ name, label, secret, lengthMax }) => ({ name, label, secret, lengthMax })),
    helpUrl,
    complete: async entered => Object.fromEntries(parts.map(part => [part.name, keyOf(entered, part)])),
    revoke: () => Promise.resolve()
  }
  return {
    login,
    keysOf,
    tokenOf: credentials => ({ token: joined(credentials, parts), issuedAt: null, expiresAt: null, isRenewable: false }),
    authorize: token => keysOf(token).flatMap((key, index) => [parts[index]?.header ?? '', key]),
    refresh: () => Promise.reject(new BrokerFault('credentials_rejected', 'the broker does not take these keys, and keys are not renewed'))
  }
}

function keyOf(entered: Readonly<Record<string, string>>, part: ApiKeyPart): string {
  // A key that was copied from a page may have whitespace around it.
  const key = (Object.hasOwn(entered, part.name) ? (entered[part.name] ?? '') : '').trim()
  if (key.length > part.lengthMax || !PRINTABLE.test(key) || !part.pattern.test(key))
    throw new LoginRefused(`${part.label} must be ${part.form}`, part.name)
  return key
}

function joined(credentials: Credentials, parts: readonly ApiKeyPart[]): string {
  return parts
    .map(({ name }) => {
      const key = credentials[name]
      if (key === undefined) throw new BrokerFault('credentials_rejected', 'these credentials are not keys of this broker')
      return key
    })
    .join(BETWEEN)
}
