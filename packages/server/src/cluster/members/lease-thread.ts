import { Worker } from 'node:worker_threads'
import type { Notice, StartKeeper, ThreadInput } from './messages.ts'
import type { SharedLease } from './shared-lease.ts'

/** Starts the thread that keeps the lease. It renews while this thread is blocked. If it fails, the lease is lost. */
export function leaseThread(input: Omit<ThreadInput, 'memory'>, lease: SharedLease): StartKeeper {
  return post => {
    const workerData: ThreadInput = { ...input, memory: lease.memory }
    const worker = new Worker(new URL('./lease-worker.ts', import.meta.url), { workerData })
    let isOver = false
    const end = (notice: Notice): void => {
      if (isOver) return
      isOver = true
      lease.end()
      post(notice)
    }
    worker.on('message', (notice: Notice) => {
      if (notice.kind === 'lost' || notice.kind === 'left') end(notice)
      else post(notice)
    })
    worker.on('error', cause => end({ kind: 'lost', why: `the thread that renews it failed: ${String(cause)}` }))
    worker.on('exit', code => end({ kind: 'lost', why: `the thread that renews it ended with ${code}` }))
    return {
      request: request => worker.postMessage(request),
      async abort() {
        isOver = true
        lease.end()
        await worker.terminate()
      }
    }
  }
}
