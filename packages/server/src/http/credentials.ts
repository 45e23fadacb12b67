import type { IncomingHttpHeaders } from 'node:http'

/** The credential headers of a request, as they were sent; absent ones are undefined. */
export interface Credentials {
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly userId: string | undefined
  readonly userSecret: string | undefined
}

const NAMES = ['client-id', 'client-secret', 'user-id', 'user-secret'] as const

/** Reads the four headers. One that was sent twice counts as not sent: nobody can say which of the two was meant. */
export function credentialsOf(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): Credentials {
  return {
    clientId: header(headers, rawHeaders, NAMES[0]),
    clientSecret: header(headers, rawHeaders, NAMES[1]),
    userId: decoded(header(headers, rawHeaders, NAMES[2])),
    userSecret: header(headers, rawHeaders, NAMES[3])
  }
}

function header(headers: IncomingHttpHeaders, rawHeaders: readonly string[], name: (typeof NAMES)[number]): string | undefined {
  const value = headers[name]
  if (typeof value !== 'string') return undefined
  // Node joins repeated headers with a comma and a space; only a value with one needs the slow look.
  return value.includes(', ') && isRepeated(rawHeaders, name) ? undefined : value
}

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === name) times++
  return times > 1
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

// Node gives header bytes as Latin-1. Whoever sends `user-id: Zoë` mostly sends UTF-8; what is not valid UTF-8 was meant as Latin-1.
function decoded(value: string | undefined): string | undefined {
  if (value === undefined || /^[\0-\x7f]*$/.test(value)) return value
  try {
    return utf8.decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}
