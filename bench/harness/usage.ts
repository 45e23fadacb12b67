// Preloaded into a measured program: reports its usage since the last request.
import { isMainThread } from 'node:worker_threads'

export interface Usage {
  /** Processor time of all its threads, in milliseconds. */
  readonly processorMs: number
  /** The longest block of its event loop: processor time of its main thread, in milliseconds. It excludes time taken by other programs. */
  readonly blockedMs: number
}

/** A task longer than this is the only one between two readings. */
const LOOK_MS = 5

function mainThreadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

if (isMainThread) {
  let last = process.cpuUsage()
  let looked = mainThreadMs()
  let blockedMs = 0
  setInterval(() => {
    const now = mainThreadMs()
    blockedMs = Math.max(blockedMs, now - looked)
    looked = now
  }, LOOK_MS).unref()
  process.on('message', question => {
    if (question !== 'usage') return
    const { user, system } = process.cpuUsage(last)
    process.send?.({ processorMs: (user + system) / 1_000, blockedMs } satisfies Usage)
    last = process.cpuUsage()
    blockedMs = 0
  })
  process.channel?.unref()
}
