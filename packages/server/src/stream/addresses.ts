import type { IncomingMessage } from 'node:http'
import proxyAddress from '@fastify/proxy-addr'
import { canonicalAddress } from '../auth/address.ts'

/**
 * Gives the address of a connection's client: the socket's, or the one that a trusted proxy forwards, in one spelling. Sessions of one
 * token stay open together if they come from one address, and a proxy may write it with a port that differs for each.
 */
export function clientAddresses(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  if (trustedProxies.length === 0) return request => canonicalAddress(request.socket.remoteAddress ?? '')
  const trusts = proxyAddress.compile([...trustedProxies])
  return request => canonicalAddress(proxyAddress(request, trusts))
}
