import type { Socket } from 'node:net'

interface Waiting {
  readonly since: number
  readonly left: number
}

/** Responses that wait to be read. A reader that reads nothing for so long loses its connection. */
export class StalledReaders {
  readonly #stalledMs: number
  /** Since when nothing was taken, and how much was left then. */
  readonly #waiting = new Map<Socket, Waiting>()

  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs
  }

  /** To be called for each socket every second or so. `nowMs` is monotonic. */
  judge(socket: Socket, nowMs: number): void {
    const left = bytesLeft(socket)
    const before = this.#waiting.get(socket)
    if (left === 0) {
      if (before !== undefined) this.#waiting.delete(socket)
      return
    }
    if (before === undefined || left < before.left) this.#waiting.set(socket, { since: nowMs, left })
    else if (nowMs - before.since >= this.#stalledMs) socket.destroy()
  }

  forget(socket: Socket): void {
    this.#waiting.delete(socket)
  }
}

/** Bytes the reader's side has not taken yet. A write under way counts whole until it is done, so what the handle has left of it is asked for. */
function bytesLeft(socket: Socket): number {
  if (socket.writableLength === 0) return 0
  const handle: unknown = Reflect.get(socket, '_handle')
  const queued: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : 0
  return socket.writableLength + (typeof queued === 'number' ? queued : 0)
}
