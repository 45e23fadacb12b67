// Sums of the overview. A node that did not answer makes a sum incomplete, never smaller without a word.
import type { NodeOverview } from './generated/admin.ts'

export interface Traffic {
  /** One sum for each span, oldest first. */
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
const SPANS = 96

/** The last 24 hours in quarters of an hour, up to `now` (milliseconds since the epoch). */
export function trafficOf(nodes: readonly NodeOverview[], now: number): Traffic {
  const end = Math.floor(now / SPAN_MS) * SPAN_MS + SPAN_MS
  const bars = Array.from({ length: SPANS }, (_, index) => ({ from: end - (SPANS - index) * SPAN_MS, requests: 0, failed: 0 }))
  const errors = new Map<string, number>()
  let requests = 0
  for (const { at, requests: count, errors: byCode } of nodes.flatMap(node => node.minutes ?? [])) {
    const bar = bars[Math.floor((Date.parse(at) - (bars[0]?.from ?? 0)) / SPAN_MS)]
    if (bar === undefined) continue // older than the 24 hours, or no time
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
