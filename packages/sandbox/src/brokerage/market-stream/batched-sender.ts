/** Sends items to one reader: one message per turn of the event loop; items that arrive too fast are buffered and conflated. */

import { CLOSE, type StreamConnection } from '../stream/connection.ts'
import { SendBuffer } from './send-buffer.ts'

/** Characters of items in one message. */
const MESSAGE_CHARS_MAX = 256 * 1024
/** Beyond this many bytes on the way to a reader, items wait here, where newer ones can replace older ones. */
const AHEAD_BYTES_MAX = 1024 * 1024
/** Bytes and characters that may wait before the reader is disconnected. */
export const WAITING_MAX = 16 * 1024 * 1024

/** A receiver of items. */
export interface Reader {
  /** `key` null: must arrive. Otherwise a later item with this key may replace it. */
  put(item: string, key: string | null): void
  /** Must arrive; nothing that waits under the key may follow it. */
  settle(item: string, key: string): void
}

export class BatchedSender implements Reader {
  readonly #connection: StreamConnection
  readonly #buffer = new SendBuffer()
  #seq = 0
  #batch = ''
  #slow = false

  constructor(connection: StreamConnection) {
    this.#connection = connection
    connection.onDrained(() => this.#drain())
  }

  /** The number of the last message. */
  get seq(): number {
    return this.#seq
  }

  /** The amount that waits, here and in the socket. */
  get waiting(): number {
    return this.#buffer.chars + this.#batch.length + this.#connection.waiting
  }

  put(item: string, key: string | null): void {
    if (this.#slow) this.#keep(item, key)
    else if (this.#batch === '') {
      this.#batch = item
      queueMicrotask(() => this.#flush())
    } else {
      this.#batch += `,${item}`
      if (this.#batch.length >= MESSAGE_CHARS_MAX) this.#flush()
    }
  }

  settle(item: string, key: string): void {
    this.#buffer.drop(key)
    this.put(item, null)
  }

  /** Stops: nothing more is sent or buffered. */
  end(): void {
    this.#batch = ''
    this.#buffer.clear()
    this.#slow = false
  }

  #flush(): void {
    if (this.#batch === '') return
    const items = this.#batch
    this.#batch = ''
    this.#send(items)
    this.#slow = this.#connection.open && this.#connection.waiting > AHEAD_BYTES_MAX
  }

  #send(items: string): void {
    if (this.#connection.open) this.#connection.event(`{"seq":${++this.#seq},"items":[${items}]}`)
  }

  #keep(item: string, key: string | null): void {
    if (this.#connection.open) this.#buffer.put(item, key)
    else this.end()
    if (this.waiting <= WAITING_MAX) return
    this.end()
    this.#connection.close(CLOSE.slow, 'this stream is read too slowly')
  }

  #drain(): void {
    while (this.#slow && this.#connection.open && this.#connection.waiting <= AHEAD_BYTES_MAX) {
      if (this.#buffer.empty) this.#slow = false
      else this.#send(this.#buffer.take(MESSAGE_CHARS_MAX))
    }
  }
}
