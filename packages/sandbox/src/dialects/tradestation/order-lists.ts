/** Which orders are still shown as today's, and which have gone to the historical ones. */

import { daysOf, hasSize, isLive, type Micros, NEW_YORK, type OrderView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { AccountViews } from './account-views.ts'
import type { Chain } from './chains.ts'

const dayOf = daysOf(NEW_YORK)

type Needs = Pick<BrokerageView, 'state' | 'publisher' | 'clock'>

/** Today's orders and all that are open: the open ones by when they were placed, the others by when they ended, the newest first. */
export function todaysOrders(brokerage: Needs, views: AccountViews, accounts: readonly string[]): readonly Chain[] {
  const today = dayOf(brokerage.clock.now()).start
  return listed(brokerage, views, accounts, order => isLive(order) || order.updatedAt >= today)
}

/** Closed orders, today's included, that ended at `since` or later; the latest first. */
export function pastOrders(brokerage: Needs, views: AccountViews, accounts: readonly string[], since: Micros): readonly Chain[] {
  return listed(brokerage, views, accounts, order => !isLive(order) && order.updatedAt >= since)
}

/** At the end of the day the closed ones are purged. */
export function isTodays({ clock }: Pick<Needs, 'clock'>, order: OrderView): boolean {
  return isLive(order) || order.updatedAt >= dayOf(clock.now()).start
}

function listed(
  { state, publisher }: Needs,
  views: AccountViews,
  accounts: readonly string[],
  wanted: (order: OrderView) => boolean
): readonly Chain[] {
  return (
    accounts
      .flatMap(account => state.engine.orders(account))
      // The last of a chain stands for it.
      .filter(order => order.state !== 'replaced' && hasSize(order) && !publisher.isHidden(order.orderId) && wanted(order))
      .map(order => views.chain(order))
      .sort((a, b) => timeOf(b) - timeOf(a) || (b.id > a.id ? 1 : -1))
  )
}

function timeOf({ first, last }: Chain): number {
  return isLive(last) ? first.acceptedAt : last.updatedAt
}
