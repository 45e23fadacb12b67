/** Alpaca's lists that come in pages: every page or a fault, never a shorter list. */

import { midnight } from '@trunkline/core/domain/calendar/index'
import { Malformed } from '@trunkline/core/domain/malformed'
import { type Day, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { OrderReport, TransactionReport } from '@trunkline/core/ports/broker'
import type { Calls } from '../kit/calls.ts'
import type { HttpRequest } from '../kit/http.ts'
import { everyPage } from '../kit/pages.ts'
import { text, type Wire } from '../kit/parse.ts'
import type { PartialRead, UnknownValueCounter } from '../kit/unknown-values.ts'
import { isLegOfMultiLeg, isMultiLeg, parseOrders } from './orders.ts'
import { parseTransaction, readList } from './parse.ts'
import { ACTIVITIES_PAGE, activitiesRequest, ORDERS_PAGE, type OrdersQuery, ordersRequest } from './requests.ts'

/** Pages of a list; beyond it the list is a fault, never cut short. */
const PAGES_MAX = 400
const DAY_MS = 86_400_000
/** An activity is recorded on its day or some days after it (fees the next trading day); it is requested by its time of recording. */
const RECORDED_LATE_DAYS = 5
const ZONE = 'America/New_York'

interface ListParts {
  readonly calls: Calls
  readonly unknownValues: UnknownValueCounter
}

/** An order with an unknown enum value is left out, counted and logged, and its id is among the ids. @throws BrokerFault */
export async function readOrders(
  { calls, unknownValues }: ListParts,
  { account, ...query }: OrdersQuery & { readonly account: string },
  signal: AbortSignal
): Promise<PartialRead<OrderReport>> {
  const request = (from: string | null) => ordersRequest(query, from)
  const read = (wires: readonly Wire[]) => [
    unknownValues.readPartially(query.isNested ? wires : wires.filter(isSingle), wire => parseOrders(wire, account), 'id')
  ]
  const pages = await paged(calls, { request, pageMax: ORDERS_PAGE, read }, signal)
  return { known: pages.flatMap(({ known }) => known).flat(), leftOut: pages.flatMap(({ leftOut }) => leftOut) }
}

/** Without nesting a multi-leg order and its legs are rows apart, of which none is the order. */
function isSingle(wire: Wire): boolean {
  return !isMultiLeg(wire) && !isLegOfMultiLeg(wire)
}

/** The activities of the days, inclusive; newest first. @throws BrokerFault */
export async function readActivities(
  { calls, unknownValues }: ListParts,
  { from, to }: { readonly from: Day; readonly to: Day },
  signal: AbortSignal
): Promise<readonly TransactionReport[]> {
  // Alpaca leaves out what was recorded at the very time.
  const after = timestampOfMs(midnight(from, ZONE) - 1)
  const until = timestampOfMs(midnight(to, ZONE) + (RECORDED_LATE_DAYS + 1) * DAY_MS)
  const request = (last: string | null) => activitiesRequest(after, until, last)
  const read = (wires: readonly Wire[]) => unknownValues.readKnown(wires, wire => parseTransaction(wire, unknownValues))
  const all = await paged(calls, { request, pageMax: ACTIVITIES_PAGE, read }, signal)
  return all.filter(({ day }) => day >= from && day <= to)
}

interface Paging<T> {
  /** The page after the item with this id; null: the first. */
  readonly request: (last: string | null) => HttpRequest
  readonly pageMax: number
  readonly read: (wires: readonly Wire[]) => readonly T[]
}

async function paged<T>(calls: Calls, { request, pageMax, read: readItems }: Paging<T>, signal: AbortSignal): Promise<readonly T[]> {
  const read = (before: string | null) =>
    calls.read(request(before), reply => pageOf(readList(reply.body), before, { pageMax, read: readItems }), signal)
  return (await everyPage(PAGES_MAX, read)).flatMap(({ items }) => items)
}

/** The next page is requested by the last record of this one, whether it could be read or not. */
function pageOf<T>(
  wires: readonly Wire[],
  before: string | null,
  { pageMax, read }: Pick<Paging<T>, 'pageMax' | 'read'>
): { readonly items: readonly T[]; readonly next: string | null } {
  const end = wires.at(-1)
  const last = end === undefined ? null : text(end, 'id')
  if (last !== null && last === before) throw new Malformed('answer', 'the page after the one before', `the same page, up to ${last}`)
  return { items: read(wires), next: wires.length < pageMax ? null : last }
}
