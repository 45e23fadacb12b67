// Loaded into a program under test before its own first line: answers how much it holds, after a collection of its garbage.
import { isMainThread } from 'node:worker_threads'

/** What a program holds. Bytes. */
export interface Vitals {
  readonly heapBytes: number
  /** Buffers outside the heap. */
  readonly externalBytes: number
  readonly rssBytes: number
  /** Open things that keep the event loop busy, by kind. */
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
  // The program ends when it is done, whatever still listens.
  process.channel?.unref()
}
