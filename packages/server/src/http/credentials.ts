import type { IncomingHttpHeaders } from 'node:http'

/** The credential headers of a request, as they were sent; absent ones are undefined. Repeated ones have been refused before. */
export interface Credentials {
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly userId: string | undefined
  readonly userSecret: string | undefined
}

const PLATFORM_HEADERS = ['client-id', 'client-secret'] as const
const USER_HEADERS = [...PLATFORM_HEADERS, 'user-id', 'user-secret'] as const

export function credentialsOf(headers: IncomingHttpHeaders): Credentials {
  const [clientId, clientSecret, userId, userSecret] = USER_HEADERS.map(name => textOf(headers[name]))
  return { clientId, clientSecret, userId: decoded(userId), userSecret }
}

/** The names of those headers that a request of this kind needs and has not. */
export function missingCredentials(headers: IncomingHttpHeaders, kind: 'platform' | 'user'): readonly string[] {
  return (kind === 'user' ? USER_HEADERS : PLATFORM_HEADERS).filter(name => (headers[name] ?? '') === '')
}

function textOf(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

// Node gives header bytes as Latin-1. A caller that sends `user-id: Zoë` mostly sends UTF-8; what is not valid UTF-8 was meant as Latin-1.
function decoded(value: string | undefined): string | undefined {
  if (value === undefined || /^[\0-\x7f]*$/.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
