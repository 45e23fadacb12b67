import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

/** HTTP statuses of the reasons for which a WebSocket connection is refused. */
const STATUS = { upgrade_malformed: 400, origin_not_allowed: 403, route_not_found: 404, rate_limited: 429, shutting_down: 503 } as const
const RETRY_SECONDS = 5

/** Why a connection is refused; the message may be shown. */
export interface Refusal {
  readonly code: keyof typeof STATUS
  readonly message: string
}

/** Answers a refused connection in the usual error form, and closes it. */
export function refuseUpgrade(socket: Duplex, { code, message }: Refusal): void {
  const requestId = randomUUID()
  const body = JSON.stringify({ message, code, request_id: requestId })
  socket.end(
    [
      `HTTP/1.1 ${STATUS[code]} ${STATUS_CODES[STATUS[code]]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      // RFC 6455, 4.4: which version is spoken here.
      ...(code === 'upgrade_malformed' ? ['sec-websocket-version: 13'] : []),
      ...(code === 'rate_limited' || code === 'shutting_down' ? [`retry-after: ${RETRY_SECONDS}`] : []),
      'connection: close',
      '',
      body
    ].join('\r\n')
  )
  socket.once('finish', () => socket.destroy())
}
