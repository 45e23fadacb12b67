// Waiting for a condition, instead of sleeping and hoping.
import { setTimeout as delay } from 'node:timers/promises'
import { PATIENCE_MS } from './patience.ts'

const POLL_MS = 20

/** Returns when `condition` holds, which is looked at every `pollMs`; throws after `limitMs`, naming what was waited for. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  limitMs = PATIENCE_MS,
  pollMs = POLL_MS
): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`)
    await delay(pollMs)
  }
}
