// Loaded into a program under measurement before its own first line: answers what it has taken since it was last asked.
import { isMainThread } from 'node:worker_threads'

export interface Usage {
  /** Processor time of all its threads, in milliseconds. */
  readonly processorMs: number
  /** The longest that its event loop worked on one thing: processor time of its main thread, in milliseconds. What other programs take is not in it. */
  readonly blockedMs: number
}

/** Whatever takes longer is between two looks alone. */
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
