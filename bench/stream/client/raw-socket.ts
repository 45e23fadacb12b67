import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

/** Called with the range of each text message in `bytes`, which are reused afterwards. */
export type MessageHandler = (bytes: Buffer, start: number, end: number) => void

export interface RawSocketOptions {
  readonly url: string
  /** The source address; any of 127.0.0.0/8 on the machine itself. */
  readonly localAddress?: string
  readonly onMessage: MessageHandler
}

/** Maximum bytes kept of an incomplete message. */
const HELD_MAX = 512 * 1024
const READ_BYTES = 256 * 1024
/**
 * All sockets read into the same bytes: one read is processed before the next begins. The incomplete rest of a socket is copied in front
 * of its next read, so that a message is always contiguous and nothing is allocated for it.
 */
const scratch = Buffer.allocUnsafeSlow(HELD_MAX + READ_BYTES)
const readInto = scratch.subarray(HELD_MAX)

/**
 * A minimal WebSocket client: it scans the frames in place, and so costs a small part of what any server spends on
 * sending them.
 */
export class RawSocket implements Disposable {
  readonly #socket: Socket
  readonly #onMessage: MessageHandler
  readonly #opened = Promise.withResolvers<void>()
  readonly #closed = Promise.withResolvers<number>()
  #held: Buffer | null = null
  #isOpen = false
  #code = 1006

  private constructor({ url, localAddress, onMessage }: RawSocketOptions) {
    const { hostname, port, pathname, search } = new URL(url)
    this.#onMessage = onMessage
    this.#socket = connect({
      host: hostname,
      port: Number(port),
      ...(localAddress === undefined ? {} : { localAddress }),
      noDelay: true,
      onread: { buffer: readInto, callback: length => this.#take(length) }
    })
    this.#socket.on('error', error => this.#opened.reject(error))
    this.#socket.on('close', () => {
      this.#opened.reject(new Error(`${url} closed before it was open`))
      this.#closed.resolve(this.#code)
    })
    this.#socket.write(
      [
        `GET ${pathname}${search} HTTP/1.1`,
        `Host: ${hostname}:${port}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
        '',
        ''
      ].join('\r\n')
    )
  }

  /** @throws Error if the other side does not switch to WebSocket. */
  static async open(options: RawSocketOptions): Promise<RawSocket> {
    const socket = new RawSocket(options)
    await socket.#opened.promise
    return socket
  }

  /** The close code, once the connection has closed; 1006 if there was none. */
  get closed(): Promise<number> {
    return this.#closed.promise
  }

  /** Masked with zeros, which leave the text unchanged. */
  send(text: string): void {
    const payload = Buffer.from(text)
    const { length } = payload
    const head = length < 126 ? Buffer.of(0x81, 0x80 | length, 0, 0, 0, 0) : Buffer.of(0x81, 0xfe, length >> 8, length & 255, 0, 0, 0, 0)
    if (length > 65_535) throw new Error('longer than a message of a measurement is')
    this.#socket.write(Buffer.concat([head, payload]))
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }

  #take(length: number): boolean {
    const held = this.#held
    this.#held = null
    held?.copy(scratch, HELD_MAX - held.length)
    let at = HELD_MAX - (held?.length ?? 0)
    const end = HELD_MAX + length
    if (!this.#isOpen) at = this.#openAt(at, end)
    at = this.#walk(at, end)
    if (at === end) return true
    if (end - at > HELD_MAX) throw new Error(`a message of more than ${HELD_MAX} bytes`)
    this.#held = Buffer.from(scratch.subarray(at, end))
    return true
  }

  /** Processes the complete frames. Returns where the first incomplete one begins. */
  #walk(from: number, end: number): number {
    if (!this.#isOpen) return from
    let at = from
    while (end - at >= 2) {
      let [head, size] = [2, (scratch[at + 1] ?? 0) & 127]
      if (size === 126) {
        if (end - at < 4) break
        ;[head, size] = [4, scratch.readUInt16BE(at + 2)]
      } else if (size === 127) {
        if (end - at < 10) break
        ;[head, size] = [10, Number(scratch.readBigUInt64BE(at + 2))]
      }
      const next = at + head + size
      if (next > end) break
      const opcode = (scratch[at] ?? 0) & 15
      if (opcode === 1) this.#onMessage(scratch, at + head, next)
      else if (opcode === 8) this.#code = size >= 2 ? scratch.readUInt16BE(at + head) : 1005
      at = next
    }
    return at
  }

  /** The start of the first frame, once the answer to the upgrade is complete. */
  #openAt(at: number, end: number): number {
    const answer = scratch.toString('latin1', at, end)
    const after = answer.indexOf('\r\n\r\n')
    if (after === -1) return at
    if (!answer.startsWith('HTTP/1.1 101')) {
      this.#opened.reject(new Error(`the upgrade was answered with ${answer.split('\r\n')[0]}`))
      this.#socket.destroy()
      return end
    }
    this.#isOpen = true
    this.#opened.resolve()
    return at + after + 4
  }
}
