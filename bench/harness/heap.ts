import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { residentMb } from './processes.ts'
import { until } from './wait.ts'

/** Node's flags for a program whose garbage is collected from outside. */
export interface Collectable {
  readonly flags: readonly string[]
  readonly port: number
}

export async function collectable(): Promise<Collectable> {
  const port = await freePort()
  return { port, flags: [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http'] }
}

const ROUNDS_MAX = 20
const SAME_MB = 0.3
const CALM_MS = 700

/** Collects a program's garbage through its inspector, so that the measurement includes only live memory. */
export class Heap implements Disposable {
  readonly #inspector: WebSocket
  readonly #pid: number
  readonly #answers = new Map<number, (answer: Record<string, unknown>) => void>()
  #lastId = 0

  private constructor(inspector: WebSocket, pid: number) {
    this.#inspector = inspector
    this.#pid = pid
    inspector.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data))
      this.#answers.get(id)?.(result)
      this.#answers.delete(id)
    })
  }

  static async of(pid: number, { port }: Collectable): Promise<Heap> {
    const [target] = Object(await fetch(`http://127.0.0.1:${port}/json/list`).then(response => response.json()))
    const inspector = new WebSocket(String(target.webSocketDebuggerUrl))
    await until('the inspector answers', 10, async () => inspector.readyState === WebSocket.OPEN)
    const heap = new Heap(inspector, pid)
    await heap.#ask('HeapProfiler.enable')
    return heap
  }

  /** Resident megabytes once they are stable, after garbage collection; the lowest reading. */
  async settledMb(): Promise<number> {
    let least = Number.POSITIVE_INFINITY
    for (let round = 0, calm = 0; round < ROUNDS_MAX && calm < 3; round += 1) {
      await this.#ask('HeapProfiler.collectGarbage')
      await pause(CALM_MS)
      const now = residentMb(this.#pid)
      calm = now < least - SAME_MB ? 0 : calm + 1
      least = Math.min(least, now)
    }
    return least
  }

  /** Bytes of JavaScript's heap, without those of buffers. */
  async usedMb(): Promise<number> {
    const { usedSize } = await this.#ask('Runtime.getHeapUsage')
    return Number(usedSize) / 1_048_576
  }

  [Symbol.dispose](): void {
    this.#inspector.close()
  }

  #ask(method: string): Promise<Record<string, unknown>> {
    this.#lastId += 1
    const id = this.#lastId
    this.#inspector.send(JSON.stringify({ id, method }))
    return new Promise(resolve => this.#answers.set(id, resolve))
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
