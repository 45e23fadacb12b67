// Sums of the overview. A node that did not answer makes a sum incomplete, never smaller without a word.
import type { NodeOverview } from './generated/admin.ts'

export interface Traffic {
  /** One sum for each quarter of an hour, oldest first. The first has only what is of the 24 hours. */
  readonly bars: readonly TrafficBar[]
  readonly requests: number
  /** By code, the most frequent first. */
  readonly errors: readonly (readonly [code: string, count: number])[]
  /** Nodes that are not in the sums. */
  readonly absent: readonly string[]
}
export interface TrafficBar {
  readonly from: number
  readonly requests: number
  readonly failed: number
}

const SPAN_MS = 15 * 60_000
const DAY_MS = 24 * 3_600_000

/**
 * The last 24 hours in quarters of an hour, up to `now`: milliseconds since the epoch by the clock of the service, not of the browser.
 * A minute that began before them is left out; what a node with a faster clock counted is of the newest quarter.
 */
export function trafficOf(nodes: readonly NodeOverview[], now: number): Traffic {
  const [first, last] = [Math.floor((now - DAY_MS) / SPAN_MS), Math.floor(now / SPAN_MS)]
  const bars = Array.from({ length: last - first + 1 }, (_, index) => ({ from: (first + index) * SPAN_MS, requests: 0, failed: 0 }))
  const errors = new Map<string, number>()
  let requests = 0
  for (const { at, requests: count, errors: byCode } of nodes.flatMap(node => node.minutes ?? [])) {
    const began = Date.parse(at)
    const bar = began < now - DAY_MS ? undefined : bars[Math.min(Math.floor(began / SPAN_MS), last) - first]
    if (bar === undefined) continue
    const failed = Object.values(byCode).reduce((sum, each) => sum + each, 0)
    requests += count
    bar.requests += count
    bar.failed += failed
    for (const [code, each] of Object.entries(byCode)) errors.set(code, (errors.get(code) ?? 0) + each)
  }
  return {
    ...{ bars, requests },
    errors: [...errors].sort(([codeA, one], [codeB, other]) => other - one || codeA.localeCompare(codeB)),
    absent: nodes.filter(({ minutes }) => minutes === null).map(({ node }) => node)
  }
}
