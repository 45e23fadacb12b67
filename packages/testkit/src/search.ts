// Long searches: seeds, rounds and repetitions that rarely find anything in one run. Every test run has a share of each, `npm run search`
// the whole.
import { test } from 'node:test'

/** Whether this run is a search. */
export const isWhole = process.env.TRUNKLINE_SEARCH === 'whole'

/** The number of `whole` in this run. */
export function ofSearch(whole: number, share: number): number {
  return isWhole ? whole : share
}

/** All `items` in a search. Otherwise those assigned to one of the `runners` of the same search, so that together they have all. */
export function shareOf<T>(items: readonly T[], shard: number, shards: number): readonly T[] {
  return isWhole ? items : items.filter((_, index) => index % shards === shard % shards)
}

/** The share of rotating work in a run: that of its day, unless `TRUNKLINE_TURN` sets another. */
export const rotation = rotationOf(process.env)

/** Days since the epoch by UTC. @throws Error if `TRUNKLINE_TURN` is not a whole number */
export function rotationOf({ TRUNKLINE_TURN: given }: NodeJS.ProcessEnv, nowMs = Date.now()): number {
  if (given === undefined || given === '') return Math.floor(nowMs / 86_400_000)
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new Error(`TRUNKLINE_TURN must be a whole number, was ${given}`)
}

/**
 * Declares one of `nth` tests, another one each `rotation`, so that all of them run within `nth` days; all in a search. The first prints
 * which, and how to run the same.
 */
export function everyNthTest(nth: number, at = rotation, declare: typeof test = test): (title: string, run: () => Promise<void>) => void {
  if (!isWhole && nth > 1)
    declare(`of each ${nth} tests number ${(at % nth) + 1} runs: TRUNKLINE_TURN=${at} runs the same`, () => undefined)
  let count = 0
  return (title, run) => {
    if (isWhole || count % nth === at % nth) declare(title, run)
    count += 1
  }
}
