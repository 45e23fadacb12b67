import { isIP } from 'node:net'

/** Where NATS is, and how this node authenticates there. */
export interface NatsServers {
  /** `host:port`, without credentials. */
  readonly addresses: readonly string[]
  readonly user: string | null
  readonly password: string | null
  readonly token: string | null
  /** TLS is demanded. Otherwise it is used where the server offers it. */
  readonly tls: boolean
}

export const NATS_PORT = 4_222
const SERVERS_MAX = 16
const EXPECTED =
  'addresses of NATS servers such as nats://user:password@host:4222, or tls://host:4222 with the name of the host, separated by commas and with the same credentials'

/**
 * Reads the servers of one NATS cluster. A user without a password is a token. @throws Error without any part of the text, which is
 * secret.
 */
export function parseNatsServers(text: string): NatsServers {
  const urls = text.split(',').map(item => URL.parse(item.trim()))
  const [first] = urls
  if (first === undefined || first === null || urls.length > SERVERS_MAX) throw new Error(EXPECTED)
  const addresses = urls.map(url => {
    const isServer = url !== null && (url.protocol === 'nats:' || url.protocol === 'tls:') && url.hostname !== ''
    if (!isServer || !['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') throw new Error(EXPECTED)
    if (url.protocol !== first.protocol || url.username !== first.username || url.password !== first.password) throw new Error(EXPECTED)
    // The client compares a certificate with a name only: it would take an address for `localhost`.
    if (url.protocol === 'tls:' && isIP(url.hostname.replaceAll(/[[\]]/g, '')) !== 0) throw new Error(EXPECTED)
    return `${url.hostname}:${url.port === '' ? NATS_PORT : url.port}`
  })
  const [user, password] = [decoded(first.username), decoded(first.password)]
  const isToken = user !== null && password === null
  return { addresses, user: isToken ? null : user, password, token: isToken ? user : null, tls: first.protocol === 'tls:' }
}

/** The text, once it is valid. */
export function optionalNatsUrl(text: string): string | null {
  if (text === '') return null
  parseNatsServers(text)
  return text
}

function decoded(text: string): string | null {
  if (text === '') return null
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new Error(EXPECTED, { cause })
  }
}
