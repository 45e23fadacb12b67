/** Accepts the WebSockets of one kind: each names its session first, and a customer has one stream at a time. */

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { parseJson } from '@trunkline/core/domain/json'
import { WebSocketServer } from 'ws'
import { type DialectConnection, type DialectConnections, type Pipe, socketPipe } from '../../frame/connections.ts'
import type { Session, Sessions } from './sessions.ts'

/** A stream's own affairs, from its first message on. */
export interface StreamProtocol {
  /** The message that came, with the session it came in. @throws Error with a message for the client */
  onMessage(message: Readonly<Record<string, unknown>>): void
  left(): void
}

export interface StreamGatewayDeps {
  readonly sessions: Sessions
  readonly connections: DialectConnections
  readonly begin: (connection: DialectConnection) => StreamProtocol
  /** Receives failures that are the sandbox's own. */
  readonly onError: (error: unknown) => void
}

const MESSAGE_BYTES_MAX = 256 * 1024
const FIRST_MESSAGE_MS = 30_000
const POLICY = 1008
const INTERNAL = 1011

interface Open {
  readonly session: Session
  readonly connection: DialectConnection
  readonly protocol: StreamProtocol
}

export class StreamGateway {
  readonly #deps: StreamGatewayDeps
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
    // A stream that is to be mute answers no pings either.
    autoPong: false
  })

  constructor(deps: StreamGatewayDeps) {
    this.#deps = deps
  }

  accept(request: IncomingMessage, wire: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, wire, head, socket => {
      const pipe = socketPipe(socket, wire)
      let open: Open | null = null
      const silent = setTimeout(() => pipe.close(POLICY, 'no session was named'), FIRST_MESSAGE_MS)
      silent.unref()
      // Its close follows.
      socket.on('error', () => undefined)
      socket.on('ping', data => {
        if (open?.connection.isMute !== true) socket.pong(data)
      })
      socket.on('message', data => {
        clearTimeout(silent)
        try {
          open = this.#receive(open, recordOf(String(data)), pipe)
        } catch (error) {
          this.#deps.onError(error)
          pipe.close(INTERNAL, 'internal error')
        }
      })
      socket.on('close', () => {
        clearTimeout(silent)
        this.#leave(open)
      })
    })
  }

  #leave(open: Open | null): void {
    if (open === null) return
    open.protocol.left()
    this.#deps.connections.remove(open.connection)
  }

  #receive(open: Open | null, message: Readonly<Record<string, unknown>> | null, pipe: Pipe): Open | null {
    const begun = open ?? (typeof message?.sessionid === 'string' ? this.#begin(message.sessionid, pipe) : null)
    if (begun === null || message === null || message.sessionid !== begun.session.id) {
      if (pipe.isOpen) pipe.send('{"error":"Session not found"}')
      pipe.close(POLICY, 'unknown session')
      return open
    }
    try {
      begun.protocol.onMessage(message)
    } catch (error) {
      begun.connection.send(JSON.stringify({ error: error instanceof Error ? error.message : 'the message cannot be read' }))
    }
    return begun
  }

  #begin(id: string, pipe: Pipe): Open | null {
    const { sessions, connections, begin } = this.#deps
    const session = sessions.take(id)
    if (session === null) return null
    for (const other of connections.of(session.pass.login)) {
      other.raw('{"error":"Too many sessions requested"}')
      other.close(POLICY, 'another session has begun')
    }
    const connection = connections.add(session.pass, pipe)
    return { session, connection, protocol: begin(connection) }
  }
}

function recordOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** A list of texts; empty where the field is missing. @throws Error */
export function textList(message: Readonly<Record<string, unknown>>, name: string): readonly string[] {
  const value = message[name]
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) {
    const texts = value.filter(item => typeof item === 'string')
    if (texts.length === value.length) return texts
  }
  throw new Error(`${name} must be a list of texts`)
}
