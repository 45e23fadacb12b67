// Long searches: seeds, rounds and repetitions that find little in any one run. Every run of the tests has a share of each, `npm run search` all.
import { test } from 'node:test'

/** Whether this run is a search. */
export const isWhole = process.env.TRUNKLINE_SEARCH === 'whole'

/** How many of `whole` this run takes. */
export function ofSearch(whole: number, share: number): number {
  return isWhole ? whole : share
}

/** All `items` in a search. Otherwise those assigned to one of the `runners` of the same search, so that together they have all. */
export function shareOf<T>(items: readonly T[], shard: number, shards: number): readonly T[] {
  return isWhole ? items : items.filter((_, index) => index % shards === shard % shards)
}

/** Which share of rotating work a run takes: the one of its day, unless `TRUNKLINE_TURN` sets another. */
export const rotation = rotationOf(process.env)

/** Days since the epoch by UTC. @throws Error when `TRUNKLINE_TURN` is no whole number. */
export function rotationOf({ TRUNKLINE_TURN: given }: NodeJS.ProcessEnv, nowMs = Date.now()): number {
  if (given === undefined || given === '') return Math.floor(nowMs / 86_400_000)
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new Error(`TRUNKLINE_TURN must be a whole number, was ${given}`)
}

/**
 * Declares one of `nth` of the tests that are given to it, another one each `rotation`, so that all of them run within so many days; all in a search.
 * The first prints which, and how to run the same.
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
