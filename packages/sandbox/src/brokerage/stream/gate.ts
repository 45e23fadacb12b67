/** Routes WebSocket upgrades by path, subject to the faults of `stream.connect`. */

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

export interface StreamEndpoint {
  readonly path: string
  readonly accept: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

export interface GateDeps {
  /** Called before each upgrade; `false`: it has handled the socket. */
  readonly admit: (socket: Duplex) => Promise<boolean>
  readonly endpoints: readonly StreamEndpoint[]
}

export function openGate(server: Server, { admit, endpoints }: GateDeps): void {
  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy())
    const path = request.url?.split('?', 1)[0]
    const endpoint = endpoints.find(candidate => candidate.path === path)
    if (endpoint === undefined) socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    else if ((await admit(socket)) && !socket.destroyed) endpoint.accept(request, socket, head)
  }
  // A failure of a socket ends only that socket.
  server.on('upgrade', (request, socket, head) => void upgrade(request, socket, head).catch(() => socket.destroy()))
}
