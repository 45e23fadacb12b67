/** The way of items to one reader: what comes in one turn leaves in one message, and what comes too fast waits and is thinned out. */

import { CLOSE, type Line } from '../stream/line.ts'
import { Outbox } from './outbox.ts'

/** Characters of items in one message. */
const MESSAGE_CHARS_MAX = 256 * 1024
/** With so many bytes on the way to a reader, more waits here, where newer can take the place of older. */
const AHEAD_BYTES_MAX = 1024 * 1024
/** Bytes and characters that may wait before the reader is given up. */
export const WAITING_MAX = 16 * 1024 * 1024

/** Somebody who is given items. */
export interface Reader {
  /** `key` null: must arrive. Otherwise a later item with this key may take its place. */
  put(item: string, key: string | null): void
  /** Must arrive, and nothing that waits under the key may follow it. */
  settle(item: string, key: string): void
}

export class Mailbox implements Reader {
  readonly #line: Line
  readonly #outbox = new Outbox()
  #seq = 0
  #turn = ''
  #slow = false

  constructor(line: Line) {
    this.#line = line
    line.onDrained(() => this.#pour())
  }

  /** The number of the last message. */
  get seq(): number {
    return this.#seq
  }

  /** What waits, here and in the socket. */
  get waiting(): number {
    return this.#outbox.chars + this.#turn.length + this.#line.waiting
  }

  put(item: string, key: string | null): void {
    if (this.#slow) this.#keep(item, key)
    else if (this.#turn === '') {
      this.#turn = item
      queueMicrotask(() => this.#endTurn())
    } else {
      this.#turn += `,${item}`
      if (this.#turn.length >= MESSAGE_CHARS_MAX) this.#endTurn()
    }
  }

  settle(item: string, key: string): void {
    this.#outbox.drop(key)
    this.put(item, null)
  }

  /** Nothing more is sent or kept. */
  end(): void {
    this.#turn = ''
    this.#outbox.clear()
    this.#slow = false
  }

  #endTurn(): void {
    if (this.#turn === '') return
    const items = this.#turn
    this.#turn = ''
    this.#send(items)
    this.#slow = this.#line.open && this.#line.waiting > AHEAD_BYTES_MAX
  }

  #send(items: string): void {
    if (this.#line.open) this.#line.event(`{"seq":${++this.#seq},"items":[${items}]}`)
  }

  #keep(item: string, key: string | null): void {
    if (this.#line.open) this.#outbox.put(item, key)
    else this.end()
    if (this.waiting <= WAITING_MAX) return
    this.end()
    this.#line.close(CLOSE.slow, 'this stream is read too slowly')
  }

  #pour(): void {
    while (this.#slow && this.#line.open && this.#line.waiting <= AHEAD_BYTES_MAX) {
      if (this.#outbox.empty) this.#slow = false
      else this.#send(this.#outbox.take(MESSAGE_CHARS_MAX))
    }
  }
}
