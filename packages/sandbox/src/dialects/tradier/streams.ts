/** Streams over WebSockets: each names its session first, and a customer has one stream of a kind at a time. */

import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Pass, StreamEndpoint } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections } from '../frame/connections.ts'
import type { FrameCodec, Guest } from '../frame/sockets.ts'
import { socketEndpoint } from '../frame/sockets.ts'

/** A stream's own affairs. */
export interface StreamProtocol {
  readonly path: string
  readonly waitingMax: number
  readonly garbled: string
  /** @returns what receives its messages, and says what is wrong with one; null: nothing. It is disposed of when the reader has gone. */
  readonly begin: (connection: DialectConnection) => Disposable & { receive(message: Readonly<Record<string, unknown>>): string | null }
}

interface Session {
  readonly id: string
  readonly pass: Pass
  /** Real time in milliseconds: until then a stream must have begun with it. */
  readonly expiresAt: number
}

const MESSAGE_BYTES_MAX = 256 * 1024
const FIRST_MESSAGE_MS = 30_000
const WINDOW_MS = 5 * 60_000
const POLICY = 1008
const CODEC: FrameCodec = { encode: frame => frame, read: data => readMessage(String(data)) }

export class Streams {
  readonly connections: DialectConnections
  readonly endpoint: StreamEndpoint
  readonly #brokerage: BrokerageView
  readonly #protocol: StreamProtocol
  /** By login: one each. */
  readonly #sessions = new Map<string, Session>()

  constructor(brokerage: BrokerageView, protocol: StreamProtocol) {
    const { path, waitingMax, garbled } = protocol
    this.#brokerage = brokerage
    this.#protocol = protocol
    this.connections = new DialectConnections({
      ...{ now: brokerage.realNow, waitingMax, garbled },
      codes: { going: 1001, tokenEnded: POLICY, slow: POLICY }
    })
    this.endpoint = socketEndpoint({
      ...{ path, messageBytesMax: MESSAGE_BYTES_MAX, codec: () => CODEC, onError: brokerage.onError },
      welcome: guest => this.#welcome(guest)
    })
  }

  /** A new session, valid once. Whatever session the customer had before is over. */
  session(pass: Pass): string {
    const id = this.#brokerage.newId()
    this.#sessions.set(pass.login, { id, pass, expiresAt: this.#brokerage.realNow() + WINDOW_MS })
    return id
  }

  reset(): void {
    this.#sessions.clear()
    this.connections.reset()
  }

  #welcome(guest: Guest): (message: unknown) => void {
    const silent = setTimeout(() => guest.pipe.close(POLICY, 'no session was named'), FIRST_MESSAGE_MS).unref()
    const gone = new DisposableStack()
    guest.socket.on('close', () => {
      clearTimeout(silent)
      gone.dispose()
    })
    const begun = (session: Session) => {
      for (const other of this.connections.of(session.pass.login)) {
        other.raw('{"error":"Too many sessions requested"}')
        other.close(POLICY, 'another session has begun')
      }
      const connection = this.connections.add(session.pass, guest.pipe)
      gone.defer(() => this.connections.remove(connection))
      guest.mute = () => connection.isMute
      return { session, connection, reader: gone.use(this.#protocol.begin(connection)) }
    }
    let open: ReturnType<typeof begun> | null = null
    return received => {
      clearTimeout(silent)
      const message = Object(received)
      const session = open?.session ?? this.#take(message.sessionid)
      if (session === null || session.id !== message.sessionid) {
        if (guest.pipe.isOpen) guest.pipe.send('{"error":"Session not found"}')
        guest.pipe.close(POLICY, 'unknown session')
        return
      }
      open ??= begun(session)
      const error = open.reader.receive(message)
      if (error !== null) open.connection.send(JSON.stringify({ error }))
    }
  }

  #take(id: unknown): Session | null {
    const session = this.#sessions.values().find(one => one.id === id)
    const now = this.#brokerage.realNow()
    if (session === undefined || session.expiresAt <= now || session.pass.expiresAt <= now) return null
    this.#sessions.delete(session.pass.login)
    return session
  }
}

function readMessage(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof Malformed) return undefined
    throw error
  }
}
