/** Windows of time for requests that a broker answers only so far at once. Pure. */

import { BrokerFault } from '@trunkline/core/ports/broker'

const DAY_MS = 86_400_000
/** Beyond it a time is not written with four digits of a year. */
export const TIME_MAX = Date.UTC(9999, 11, 31)

/** How a broker has bars of an interval: `reachMs` is how much is requested at once, `depthDays` how far back there are any. */
export interface BarsKind {
  readonly name: string
  readonly lengthMs: number
  readonly reachMs: number
  readonly depthDays: number
}

export interface Window {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

/** @throws BrokerFault `refused` for a window of times that have no text */
export function demandWindow({ fromMs, toMs }: Window): void {
  if (!(fromMs >= 0 && fromMs <= toMs && toMs <= TIME_MAX))
    throw new BrokerFault('refused', `bars are requested from one time to a later one between 1970 and 9999, not from ${fromMs} to ${toMs}`)
}

/** The windows of a request, ascending; without what the broker does not keep, and without the future. @throws BrokerFault `refused` */
export function windowsOf(request: Window, { lengthMs, reachMs, depthDays }: BarsKind, presentMs: number): readonly Window[] {
  demandWindow(request)
  const { fromMs, toMs } = request
  const last = Math.min(toMs, presentMs + lengthMs)
  const windows: Window[] = []
  for (let from = Math.max(fromMs, presentMs - depthDays * DAY_MS, 0); from < last; from += reachMs)
    windows.push({ fromMs: from, toMs: Math.min(from + reachMs, last) })
  return windows
}
