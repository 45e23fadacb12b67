import { setTimeout as pause } from 'node:timers/promises'

/**
 * Starts `work` at a steady rate, whether or not earlier work has ended (so that a slow answer delays no other), and returns all
 * results. `work` gets the time when it was due: latencies count from there.
 */
export async function atRate<T>(
  perSecond: number,
  seconds: number,
  work: (dueAt: number, index: number) => Promise<T>
): Promise<readonly T[]> {
  const started = performance.now()
  const running: Promise<T>[] = []
  const total = Math.round(perSecond * seconds)
  for (let index = 0; index < total; index += 1) {
    const dueAt = started + (index * 1_000) / perSecond
    const wait = dueAt - performance.now()
    if (wait > 1) await pause(wait)
    running.push(work(dueAt, index))
  }
  return Promise.all(running)
}

/** Runs `work` `count` times in so many workers; each begins the next when its last has ended. */
export async function inParallel(count: number, workers: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: workers }, worker))
}
