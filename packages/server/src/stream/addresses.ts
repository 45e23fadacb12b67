import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'

/** Gives the address of a connection's client: the socket's, or the one that a trusted proxy forwards. */
export function clientAddresses(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return request => request.socket.remoteAddress ?? ''
  const trusts = proxyAddress.compile([...trustedProxies])
  return request => proxyAddress(request, trusts)
}
