// Many seeds over one store, several at once: each has its own time, so none changes what another does.
import { type Ground, type RunOptions, runSeed, type SeedResult } from './run-seed.ts'

const AT_ONCE = 8

/** Each worker has a ground; without nodes they may be the same. */
export type Grounds = (worker: number) => Ground

export interface Outcomes {
  readonly results: readonly SeedResult[]
  /** Each with its seed, its last steps and how to have it again. */
  readonly failures: readonly Error[]
}

/** Runs the seeds, and stops beginning new ones once `failuresMax` have failed. */
export async function runSeeds(
  grounds: Grounds,
  {
    from,
    count,
    failuresMax,
    atOnce = AT_ONCE,
    ended = () => undefined
  }: {
    readonly from: number
    readonly count: number
    readonly failuresMax: number
    readonly atOnce?: number
    /** Called with each failure as it happens, and with null for a day that went well. */
    readonly ended?: (failure: Error | null) => void
  },
  options: RunOptions = {}
): Promise<Outcomes> {
  const results: SeedResult[] = []
  const failures: Error[] = []
  let next = from
  const worker = async (ground: Ground) => {
    while (next < from + count && failures.length < failuresMax) {
      const seed = next
      next += 1
      try {
        results.push(await runSeed(ground, seed, options))
        ended(null)
      } catch (cause) {
        const failure = cause instanceof Error ? cause : new Error(String(cause))
        failures.push(failure)
        ended(failure)
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, index) => worker(grounds(index))))
  return { results, failures }
}
