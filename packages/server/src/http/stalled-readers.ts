import type { Socket } from 'node:net'

interface Waiting {
  readonly since: number
  readonly left: number
}

/** Closes the connection of a client that reads nothing for `stalledMs` while response bytes wait for it. */
export class StalledReaders {
  readonly #stalledMs: number
  /** Since when no bytes were read, and how many were left then. */
  readonly #waiting = new Map<Socket, Waiting>()

  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs
  }

  /** Call about every second for each socket. `nowMs` is monotonic. */
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

/** Bytes not sent yet. `writableLength` counts a pending write in full until it ends, so `writeQueueSize` shows its progress. */
function bytesLeft(socket: Socket): number {
  if (socket.writableLength === 0) return 0
  const handle: unknown = Reflect.get(socket, '_handle')
  const queued: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : 0
  return socket.writableLength + (typeof queued === 'number' ? queued : 0)
}
