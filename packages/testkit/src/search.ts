// Long searches: seeds, rounds and repetitions that find little in any one run. Every run of the tests has a share of each, `npm run search` all.
import { test } from 'node:test'

/** Whether this run is a search. */
export const isWhole = process.env.TRUNKLINE_SEARCH === 'whole'

/** How many of `whole` this run takes. */
export function ofSearch(whole: number, share: number): number {
  return isWhole ? whole : share
}

/** All `items` in a search. Else those that fall to one of the `places` where the same search runs, so that together they have all. */
export function shareOf<T>(items: readonly T[], place: number, places: number): readonly T[] {
  return isWhole ? items : items.filter((_, index) => index % places === place % places)
}

/** Declares every `nth` of the tests that are given to it; all of them in a search. */
export function everyNthTest(nth: number): (title: string, run: () => Promise<void>) => void {
  let count = 0
  return (title, run) => {
    if (isWhole || count % nth === 0) test(title, run)
    count += 1
  }
}
