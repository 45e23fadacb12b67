/** Instants as TradeStation writes them: RFC 3339 in UTC, whole seconds. */

import type { Micros } from '../frame/brokerage.ts'

export function timeOf(at: Micros): string {
  return `${new Date(Math.floor(at / 1_000)).toISOString().slice(0, 19)}Z`
}

/** A date at midnight UTC, whose time is to be ignored. */
export function dayOf(date: string): string {
  return `${date}T00:00:00Z`
}
