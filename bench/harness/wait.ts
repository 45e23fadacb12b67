import { setTimeout as pause } from 'node:timers/promises'

const EVERY_MS = 50

/** Polls until the condition holds. @throws Error naming the condition and its last state after too long. */
export async function until(
  what: string,
  seconds: number,
  isSo: () => Promise<boolean>,
  stand: () => Promise<unknown> = async () => ''
): Promise<void> {
  const end = performance.now() + 1_000 * seconds
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error(`${what}: not within ${seconds} s (${JSON.stringify(await stand())})`)
    await pause(EVERY_MS)
  }
}
