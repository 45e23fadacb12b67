/** One end of a connection between two nodes that carries many messages at once. Those of one turn of the event loop leave in one write. */
import type { Duplex } from 'node:stream'
import { Opener, RECORD_BYTES_MAX, Sealer } from './sealed-records.ts'

/** A piece of a message, its last piece, the end of interest in its answer, a question whether the other end lives, and its answer. */
export const FRAME = { piece: 0, last: 1, cancel: 2, ping: 3, pong: 4 } as const

export interface LinkHandlers {
  /** A frame that came. `bytes` is a view of a larger buffer. What it throws ends the connection. */
  frame(id: number, kind: number, bytes: Buffer): void
  /** Called once. No frame comes after it. */
  closed(): void
}

/** Identifier, kind, length. */
const HEAD_BYTES = 4 + 1 + 4
/** Of a message, in one record: other messages go between the pieces of a long one. */
const PIECE_BYTES_MAX = 64 * 1024

interface Waiting {
  readonly bytes: Buffer
  readonly sent: (() => void) | undefined
  /** How much of it was given to the socket. */
  at: number
}

export class Link {
  readonly #socket: Duplex
  readonly #handlers: LinkHandlers
  readonly #sealer: Sealer
  readonly #opener: Opener
  readonly #messages = new Map<number, Waiting>()
  #signals: Buffer[] = []
  #isScheduled = false
  #isFull = false
  #isClosed = false

  constructor(socket: Duplex, keys: { readonly send: Uint8Array; readonly receive: Uint8Array }, handlers: LinkHandlers) {
    this.#socket = socket
    this.#handlers = handlers
    this.#sealer = new Sealer(keys.send)
    this.#opener = new Opener(keys.receive)
    // What follows an error is a close.
    socket.on('error', () => undefined)
    socket.on('drain', () => this.#drained())
    for (const event of ['end', 'close'] as const) socket.on(event, () => this.destroy())
  }

  /** Begins to read. `early`: what came already. */
  begin(early: Buffer): void {
    if (early.length > 0) this.#receive(early)
    this.#socket.on('data', (bytes: Buffer) => this.#receive(bytes))
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Sends a message under an identifier that no other message on its way has. `sent`: the operating system has all of it. */
  send(id: number, bytes: Buffer, sent?: () => void): void {
    if (this.#isClosed) return
    this.#messages.set(id, { bytes, sent, at: 0 })
    this.#schedule()
  }

  signal(id: number, kind: number): void {
    if (this.#isClosed) return
    this.#signals.push(headOf(id, kind, 0))
    this.#schedule()
  }

  /** Takes back a message whose end was not sent; the other end forgets what it has of it. False: it may have the whole. */
  takeBack(id: number): boolean {
    const message = this.#messages.get(id)
    if (message === undefined) return false
    this.#messages.delete(id)
    if (message.at > 0) this.signal(id, FRAME.cancel)
    return true
  }

  /** Whether the end of the message was not given to the socket, so that the other end does not have the whole. */
  isIncomplete(id: number): boolean {
    return this.#messages.has(id)
  }

  destroy(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.destroy()
    this.#handlers.closed()
    this.#messages.clear()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #drained(): void {
    this.#isFull = false
    this.#flush()
  }

  #flush(): void {
    while (!this.#isClosed && !this.#isFull && (this.#messages.size > 0 || this.#signals.length > 0)) {
      const { content, sent } = this.#record()
      this.#isFull = !this.#socket.write(this.#sealer.seal(content), () => {
        for (const done of sent) done()
      })
    }
  }

  /** The next record: a piece of each message, as far as they fit. */
  #record(): { readonly content: Buffer; readonly sent: readonly (() => void)[] } {
    const sent: (() => void)[] = []
    const parts = this.#signals.splice(0, RECORD_BYTES_MAX / 2 / HEAD_BYTES)
    let left = RECORD_BYTES_MAX - parts.length * HEAD_BYTES
    for (const [id, message] of this.#messages) {
      if (left <= HEAD_BYTES) break
      const { bytes, at } = message
      const end = Math.min(bytes.length, at + PIECE_BYTES_MAX, at + left - HEAD_BYTES)
      const isLast = end === bytes.length
      parts.push(headOf(id, isLast ? FRAME.last : FRAME.piece, end - at), bytes.subarray(at, end))
      left -= HEAD_BYTES + end - at
      message.at = end
      this.#messages.delete(id)
      // To the end of the queue.
      if (!isLast) this.#messages.set(id, message)
      else if (message.sent !== undefined) sent.push(message.sent)
    }
    return { content: Buffer.concat(parts), sent }
  }

  #receive(bytes: Buffer): void {
    try {
      for (const content of this.#opener.open(bytes)) this.#read(content)
    } catch {
      // Not from the node, or not as this version speaks.
      this.destroy()
    }
  }

  #read(content: Buffer): void {
    for (let at = 0; at < content.length && !this.#isClosed; ) {
      const [id, kind, length] = [content.readUInt32BE(at), content.readUInt8(at + 4), content.readUInt32BE(at + 5)]
      const begin = at + HEAD_BYTES
      at = begin + length
      if (at > content.length) throw new Error('a frame between nodes is longer than its record')
      // It would take memory that no limit counts.
      if (kind === FRAME.piece && length === 0) throw new Error('a piece between nodes has no bytes')
      if (kind === FRAME.ping) this.signal(id, FRAME.pong)
      else this.#handlers.frame(id, kind, content.subarray(begin, at))
    }
  }
}

function headOf(id: number, kind: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  head.writeUInt32BE(id)
  head.writeUInt8(kind, 4)
  head.writeUInt32BE(length, 5)
  return head
}
