import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { BODY_BYTES_MAX } from '../../http/body.ts'
import { markPassedOn } from '../../http/passed-on.ts'
import { FRAME, Link } from './link.ts'
import { LinkResponse, requestOf } from './link-request.ts'
import { decodeRequest, encodeAnswer } from './passed-codec.ts'
import type { LinkKeys } from './sealed-records.ts'

/** The client's headers have 16 KiB at most, and the rest is short. */
const REQUEST_BYTES_MAX = BODY_BYTES_MAX + 32 * 1024
/** More than a node sends at once. */
const UNDER_WAY_MAX = 4_096

/** A link whose other host vanished would stay open for ever: only the node that opened it asks whether the other lives. */
const KEEP_ALIVE_MS = 30_000

/** Hands a request of another node to the routing of the public server. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => void

/** The links that other nodes opened to this one. */
export class LinkServer {
  readonly #serve: Serve
  readonly #links = new Set<ServedLink>()
  /** Requests that are being handled, or whose answers are being sent. */
  #underWay = 0
  #idle = Promise.withResolvers<void>()

  constructor(serve: Serve) {
    this.#serve = serve
  }

  open(socket: Socket, keys: LinkKeys, early: Buffer): void {
    const served = new ServedLink(socket, keys, early, this.#serve, () => this.#begun())
    if (served.isClosed) return
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    this.#links.add(served)
    socket.once('close', () => this.#links.delete(served))
  }

  /** Resolves when every request has its answer. One for which nobody waits any more is still being carried out until then. */
  idle(): Promise<void> {
    return this.#underWay === 0 ? Promise.resolve() : this.#idle.promise
  }

  /** Ends every link. */
  cut(): void {
    for (const link of this.#links) link.cut()
  }

  /** Gives what is to be called once, when the request is over. */
  #begun(): () => void {
    this.#underWay += 1
    return () => {
      this.#underWay -= 1
      if (this.#underWay > 0) return
      this.#idle.resolve()
      this.#idle = Promise.withResolvers()
    }
  }
}

class ServedLink {
  readonly #socket: Socket
  readonly #serve: Serve
  readonly #link: Link
  readonly #begun: () => () => void
  readonly #coming = new Map<number, { readonly pieces: Buffer[]; length: number }>()
  /** Those that somebody waits for. */
  readonly #responses = new Map<number, LinkResponse>()
  /** What to call of requests whose answers are being sent. */
  readonly #unsent = new Set<() => void>()

  constructor(socket: Socket, { toOwner, fromOwner }: LinkKeys, early: Buffer, serve: Serve, begun: () => () => void) {
    this.#socket = socket
    this.#serve = serve
    this.#begun = begun
    const handlers = {
      frame: (id: number, kind: number, bytes: Buffer) => this.#frame(id, kind, bytes),
      closed: () => this.#closed()
    }
    this.#link = new Link(socket, { send: fromOwner, receive: toOwner }, handlers)
    this.#link.begin(early)
  }

  get isClosed(): boolean {
    return this.#link.isClosed
  }

  cut(): void {
    this.#link.destroy()
  }

  #frame(id: number, kind: number, bytes: Buffer): void {
    if (kind === FRAME.cancel) {
      this.#coming.delete(id)
      this.#responses.get(id)?.abandon()
      return
    }
    if (kind !== FRAME.piece && kind !== FRAME.last) throw new Error('not a frame of a request')
    const coming = this.#coming.get(id) ?? { pieces: [], length: 0 }
    coming.pieces.push(bytes)
    coming.length += bytes.length
    if (coming.length > REQUEST_BYTES_MAX) throw new Error('a request between nodes is too long')
    this.#coming.set(id, coming)
    if (this.#coming.size + this.#responses.size > UNDER_WAY_MAX) throw new Error('too many requests between nodes at once')
    if (kind === FRAME.piece) return
    this.#coming.delete(id)
    this.#begin(id, coming.pieces.length === 1 ? bytes : Buffer.concat(coming.pieces))
  }

  #begin(id: number, message: Buffer): void {
    if (this.#responses.has(id)) throw new Error('a request between nodes has the identifier of another')
    const passed = decodeRequest(message)
    const request = requestOf(this.#socket, passed)
    const over = this.#begun()
    let isAnswered = false
    const sent = () => {
      this.#responses.delete(id)
      this.#unsent.delete(sent)
      over()
    }
    const response = new LinkResponse(request, (status, headers, body) => {
      const answer = encodeAnswer(status, headers, body)
      isAnswered = true
      this.#unsent.add(sent)
      if (this.#link.isClosed) sent()
      else this.#link.send(id, answer, sent)
    })
    this.#responses.set(id, response)
    // Of an answered one, the end is that it was sent.
    response.once('close', () => {
      if (!isAnswered) this.#responses.delete(id)
    })
    const { address, platformAllowance } = passed
    markPassedOn(request, { address, platformAllowance: { ...platformAllowance, retryAfterSeconds: null } })
    this.#serve(request, response)
  }

  #closed(): void {
    this.#coming.clear()
    for (const response of [...this.#responses.values()]) response.abandon()
    this.#responses.clear()
    for (const sent of [...this.#unsent]) sent()
  }
}
