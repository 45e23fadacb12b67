// Many seeds over one store, several at once: each has its own time, so none changes what another does.
import type { Store } from '@trunkline/core/ports/store'
import { type RunOptions, runSeed, type SeedResult } from './run-seed.ts'

const AT_ONCE = 8

export interface Outcomes {
  readonly results: readonly SeedResult[]
  /** Each with its seed, its last steps and how to have it again. */
  readonly failures: readonly Error[]
}

/** Runs the seeds, and stops beginning new ones once `failuresMax` have failed. */
export async function runSeeds(
  store: Store,
  {
    from,
    count,
    failuresMax,
    atOnce = AT_ONCE
  }: { readonly from: number; readonly count: number; readonly failuresMax: number; readonly atOnce?: number },
  options: RunOptions = {}
): Promise<Outcomes> {
  const results: SeedResult[] = []
  const failures: Error[] = []
  let next = from
  const worker = async () => {
    while (next < from + count && failures.length < failuresMax) {
      const seed = next
      next += 1
      try {
        results.push(await runSeed(store, seed, options))
      } catch (cause) {
        failures.push(cause instanceof Error ? cause : new Error(String(cause)))
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { results, failures }
}
