import type { IncomingHttpHeaders } from 'node:http'

/** The credential headers of a request; absent ones are undefined. Repeated headers were refused earlier. */
export interface Credentials {
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly userId: string | undefined
  readonly userSecret: string | undefined
}

const PLATFORM_HEADERS = ['client-id', 'client-secret'] as const
const USER_HEADERS = [...PLATFORM_HEADERS, 'user-id', 'user-secret'] as const

export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  return {
    clientId: textOf(headers['client-id']),
    clientSecret: textOf(headers['client-secret']),
    userId: decoded(textOf(headers['user-id'])),
    userSecret: textOf(headers['user-secret'])
  }
}

/** The names of the credential headers that the request lacks. */
export function missingCredentials(headers: IncomingHttpHeaders, kind: 'platform' | 'user'): readonly string[] {
  return (kind === 'user' ? USER_HEADERS : PLATFORM_HEADERS).filter(name => (headers[name] ?? '') === '')
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

// Node decodes header bytes as Latin-1. Most clients send `user-id: Zoë` as UTF-8; bytes that are not valid UTF-8 are taken as Latin-1.
function decoded(value: string | undefined): string | undefined {
  if (value === undefined || !/[^\0-\x7f]/.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
