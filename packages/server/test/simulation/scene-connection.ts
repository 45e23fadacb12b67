// A socket without a network: bytes wait in it while the client reads nothing, and are whole frames when it does.
import { CLOSE, type ClientConnection, type Listener } from '../../src/stream/client-connection.ts'
import type { FlushScheduler } from '../../src/stream/flush-scheduler.ts'
import { SendBuffer, type Sink } from '../../src/stream/send-buffer.ts'
import type { SendBufferLimits } from '../../src/stream/send-buffer-limits.ts'

/** The client's end. */
export interface WireEnd {
  message(text: string): void
  /** Nothing comes after it. 1006: the socket was cut. */
  closed(code: number): void
}

/** Bytes that a socket takes for a client that reads nothing, before its writer is asked to wait. */
const BUFFER_BYTES = 4 * 1024

export class SceneConnection implements ClientConnection, Sink {
  readonly #sendBuffer: SendBuffer
  readonly #end: WireEnd
  readonly #left: () => void
  #listener: Listener | null = null
  #isFinishing = false
  #isOver = false
  #isRead = true
  #isFull = false
  #isPaused = false
  /** On their way to the client. */
  #bytes = Buffer.alloc(0)
  /** On their way to the service. */
  readonly #messages: string[] = []
  #closedWith: number | null = null

  /** `left` is called when the service has let go of the connection. */
  constructor(scheduler: FlushScheduler, limits: SendBufferLimits, end: WireEnd, left: () => void) {
    this.#sendBuffer = new SendBuffer(this, scheduler, limits)
    this.#end = end
    this.#left = left
  }

  listen(listener: Listener): void {
    this.#listener = listener
    this.#deliver()
  }

  // The client's side.

  receiveFromClient(message: unknown): void {
    if (this.#isOver) return
    this.#messages.push(typeof message === 'string' ? message : JSON.stringify(message))
    this.#deliver()
  }

  /** The client reads nothing from here on, or goes on reading. */
  read(isRead: boolean): void {
    this.#isRead = isRead
    if (!isRead) return
    this.#pass()
    if (this.#isFull) {
      this.#isFull = false
      this.#sendBuffer.drained()
    }
  }

  /** The client goes away. */
  leave(): void {
    this.#bytes = Buffer.alloc(0)
    this.#over()
  }

  // The service's side.

  send(frame: Uint8Array): void {
    if (!this.#isFinishing && !this.#isOver) this.#sendBuffer.push(frame)
  }

  sendText(message: string): void {
    if (!this.#isFinishing && !this.#isOver) this.#sendBuffer.text(message)
  }

  get isBehind(): boolean {
    return this.#sendBuffer.isBehind
  }

  caughtUp(): void {
    this.#listener?.caughtUp()
  }

  idle(): Promise<void> {
    return this.#sendBuffer.idle()
  }

  finish(code: number, _reason: string): void {
    if (this.#isFinishing || this.#isOver) return
    this.#isFinishing = true
    this.#sendBuffer.flush()
    void this.#sendBuffer.idle().then(() => this.#close(code))
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#deliver()
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isOver) return true
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    this.#pass()
    this.#isFull = this.#bytes.byteLength > BUFFER_BYTES
    return !this.#isFull
  }

  overflowed(_reason: string): void {
    this.#close(CLOSE.slowConsumer)
  }

  /** The connection breaks: what was on its way may still arrive, and nothing after it. */
  cut(): void {
    this.#close(1006)
  }

  #close(code: number): void {
    if (this.#isOver) return
    this.#closedWith = code
    this.#over()
    // The socket's last bytes come before its end.
    if (this.#isRead) this.#pass()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sendBuffer.close()
    const listener = this.#listener
    this.#listener = null
    this.#left()
    listener?.gone()
  }

  #deliver(): void {
    while (!this.#isPaused && this.#listener !== null && this.#messages.length > 0) this.#listener.text(this.#messages.shift() ?? '')
  }

  /** Whole frames go to the client; then the end, if it came. */
  #pass(): void {
    while (this.#isRead) {
      const frame = frameAt(this.#bytes)
      if (frame === null) break
      this.#bytes = this.#bytes.subarray(frame.length)
      this.#end.message(frame.text)
    }
    if (!this.#isRead || this.#closedWith === null) return
    const code = this.#closedWith
    this.#closedWith = null
    this.#end.closed(code)
  }
}

/** The first unmasked text frame (RFC 6455, section 5.2), and its length with its head; null while it is not whole. */
function frameAt(bytes: Buffer): { readonly text: string; readonly length: number } | null {
  if (bytes.byteLength < 2) return null
  if (bytes[0] !== 0x81) throw new Error(`a frame begins with ${bytes[0]}, which is no final text frame`)
  const short = bytes[1] ?? 0
  const head = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.byteLength < head) return null
  const length = head + (short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)))
  if (bytes.byteLength < length) return null
  return { text: bytes.toString('utf8', head, length), length }
}
