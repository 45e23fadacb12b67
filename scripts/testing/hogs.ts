// Load beside tests: threads that compute without a pause. They end with this process at the latest.
import { Worker } from 'node:worker_threads'

const SPIN = 'for (let value = 1; ; ) value = Math.sin(value)'

export interface Hogs {
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

export function startHogs(count: number): Hogs {
  const workers = Array.from({ length: count }, () => new Worker(SPIN, { eval: true }))
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map(worker => worker.terminate()))
    }
  }
}
