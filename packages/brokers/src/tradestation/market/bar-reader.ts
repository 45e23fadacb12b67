/** Bars of one connection as they grow: the past that comes first is passed over, and a bar is closed once. */

import type { TopicSink } from '@trunkline/core/ports/market'
import { field, type Wire } from '../../kit/parse.ts'
import { parseMinute } from './bars.ts'
import type { Present } from './present.ts'

const MINUTE_MS = 60_000

export function barReader(sink: TopicSink, present: Present): (wire: Wire) => void {
  let isPast = true
  let closedMs = Number.NEGATIVE_INFINITY
  return wire => {
    const bar = parseMinute(wire)
    const isHistory = isPast
    if (field(wire, 'IsEndOfHistory') === true || field(wire, 'IsRealtime') === true) isPast = false
    present.happened(bar.closed ? bar.startMs + MINUTE_MS : bar.startMs)
    // What has been closed before is in the broker's history.
    if ((isHistory && bar.closed) || bar.startMs <= closedMs) {
      if (bar.closed) closedMs = Math.max(closedMs, bar.startMs)
      return
    }
    if (bar.closed) closedMs = bar.startMs
    sink.bar(bar)
  }
}
