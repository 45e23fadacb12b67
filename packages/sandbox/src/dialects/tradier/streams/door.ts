/** Where WebSockets of one kind come in: each says its session first, and a customer has one stream at a time. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { parseJson } from '@trunkline/core/domain/json'
import { WebSocketServer } from 'ws'
import { answerPipe, type DialectLine, type DialectLines, type Pipe, socketPipe } from '../../frame/lines.ts'
import type { Session, Sessions } from './sessions.ts'

/** A stream's own affairs, from its first message on. */
export interface Talk {
  /** The message that came, with the session it came in. @throws Error with words for the other side */
  hear(message: Readonly<Record<string, unknown>>): void
  left(): void
}

export interface DoorDeps {
  readonly sessions: Sessions
  readonly lines: DialectLines
  readonly begin: (line: DialectLine) => Talk
  /** Receives failures that are the sandbox's own. */
  readonly onTrouble: (error: unknown) => void
}

const MESSAGE_BYTES_MAX = 256 * 1024
const FIRST_MESSAGE_MS = 30_000
const POLICY = 1008
const INTERNAL = 1011

interface Open {
  readonly session: Session
  readonly line: DialectLine
  readonly talk: Talk
}

export class Door {
  readonly #deps: DoorDeps
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    clientTracking: false,
    // A stream that is to be mute answers no pings either.
    autoPong: false
  })

  constructor(deps: DoorDeps) {
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
        if (open?.line.isMute !== true) socket.pong(data)
      })
      socket.on('message', data => {
        clearTimeout(silent)
        try {
          open = this.#hear(open, recordOf(String(data)), pipe)
        } catch (error) {
          this.#deps.onTrouble(error)
          pipe.close(INTERNAL, 'internal error')
        }
      })
      socket.on('close', () => {
        clearTimeout(silent)
        this.#leave(open)
      })
    })
  }

  /** A stream over an endless answer, which says all it has to say at once. Its headers must have been written. */
  answer(response: ServerResponse, message: Readonly<Record<string, unknown>>): void {
    const open = this.#hear(null, message, answerPipe(response))
    response.on('close', () => this.#leave(open))
  }

  #leave(open: Open | null): void {
    if (open === null) return
    open.talk.left()
    this.#deps.lines.remove(open.line)
  }

  #hear(open: Open | null, message: Readonly<Record<string, unknown>> | null, pipe: Pipe): Open | null {
    const begun = open ?? (typeof message?.sessionid === 'string' ? this.#begin(message.sessionid, pipe) : null)
    if (begun === null || message === null || message.sessionid !== begun.session.id) {
      if (pipe.isOpen) pipe.send('{"error":"Session not found"}')
      pipe.close(POLICY, 'unknown session')
      return open
    }
    try {
      begun.talk.hear(message)
    } catch (error) {
      begun.line.say(JSON.stringify({ error: error instanceof Error ? error.message : 'the message cannot be read' }))
    }
    return begun
  }

  #begin(id: string, pipe: Pipe): Open | null {
    const { sessions, lines, begin } = this.#deps
    const session = sessions.take(id)
    if (session === null) return null
    for (const other of lines.of(session.pass.login)) {
      other.raw('{"error":"Too many sessions requested"}')
      other.close(POLICY, 'another session has begun')
    }
    const line = lines.add(session.pass, pipe)
    return { session, line, talk: begin(line) }
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
