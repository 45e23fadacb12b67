// Loaded into a program under test before its first line: reports its memory and handles after a garbage collection.
import { isMainThread } from 'node:worker_threads'

/** A program's memory in bytes, and handles. */
export interface Vitals {
  readonly heapBytes: number
  /** Buffers outside the heap. */
  readonly externalBytes: number
  readonly rssBytes: number
  /** Open handles of the event loop, by kind. */
  readonly resources: Readonly<Record<string, number>>
}

function vitals(): Vitals {
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  return { heapBytes: heapUsed, externalBytes: external, rssBytes: rss, resources }
}

if (isMainThread) {
  process.on('message', (question: { readonly id: number; readonly ask: string }) => {
    if (question.ask === 'vitals') process.send?.({ id: question.id, answer: vitals() })
  })
  // This listener must not keep the program running.
  process.channel?.unref()
}
