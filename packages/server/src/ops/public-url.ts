// The origin under which the service is reached, and the origins whose pages may open its streams.
import type { Server } from 'node:net'

export function isAllowed(origin: string, publicUrl: string, allowed: readonly string[]): boolean {
  return origin === publicUrl || allowed.includes('*') || allowed.includes(origin)
}

/** The origin on this machine, as browsers write it: without a port that is the scheme's, and with the shortest form of an address. */
export function localUrl(host: string, address: ReturnType<Server['address']>): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const url = `http://${name}:${port}`
  // An address with a zone is none in a URL.
  return URL.parse(url)?.origin ?? url
}
