import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { BETWEEN_NODES } from '../../http/passed-on.ts'
import { SIGNED_HEADERS } from './signature.ts'

/** A request of HTTP/1.0 may have no host; the owner is sent HTTP/1.1. */
const NO_HOST = 'trunkline'

/** The headers of a client's request that are passed on. The owner needs no others, and a client cannot smuggle any between the nodes. */
export function headersForOwner(given: IncomingHttpHeaders, requestId: string): Record<string, string> {
  const passed: Record<string, string> = { host: NO_HOST }
  for (const name of SIGNED_HEADERS) {
    const value = given[name]
    if (typeof value === 'string') passed[name] = value
  }
  return { ...passed, 'x-request-id': requestId }
}

/** Headers of one connection (RFC 9110, 7.6.1), and those that the node which answers the client writes itself. */
const OF_ONE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'date',
  ...Object.values(BETWEEN_NODES)
])

/** The headers of the owner's answer that the client gets. */
export function headersForClient(answered: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed: OutgoingHttpHeaders = {}
  for (const [name, value] of Object.entries(answered)) if (value !== undefined && !OF_ONE_CONNECTION.has(name)) passed[name] = value
  // After a malformed body a server closes the client's connection, and so does this one.
  if (answered.connection === 'close') passed.connection = 'close'
  return passed
}
