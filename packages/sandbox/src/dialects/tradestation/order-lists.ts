/** Which orders are still shown as today's, and which have gone to the historical ones. */

import type { Micros, OrderView } from '../../engine/types.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { hasSize, isLive } from '../../house/wire.ts'
import { daysOf } from '../../market/day-starts.ts'
import { NEW_YORK } from '../../market/hours.ts'
import type { Chain } from './chains.ts'
import type { Sights } from './sights.ts'

const dayOf = daysOf(NEW_YORK)

type Needs = Pick<DialectHouse, 'books' | 'news' | 'clock'>

/** Today's orders and all that are open: the open ones by when they were placed, the others by when they ended, the newest first. */
export function todaysOrders(house: Needs, sights: Sights, accounts: readonly string[]): readonly Chain[] {
  const today = dayOf(house.clock.now()).start
  return listed(house, sights, accounts, order => isLive(order) || order.updatedAt >= today)
}

/** Closed orders, today's included, that ended at `since` or later; the latest first. */
export function pastOrders(house: Needs, sights: Sights, accounts: readonly string[], since: Micros): readonly Chain[] {
  return listed(house, sights, accounts, order => !isLive(order) && order.updatedAt >= since)
}

/** At the end of the day the closed ones are purged. */
export function isTodays({ clock }: Pick<Needs, 'clock'>, order: OrderView): boolean {
  return isLive(order) || order.updatedAt >= dayOf(clock.now()).start
}

function listed(
  { books, news }: Needs,
  sights: Sights,
  accounts: readonly string[],
  wanted: (order: OrderView) => boolean
): readonly Chain[] {
  return (
    accounts
      .flatMap(account => books.engine.orders(account))
      // The last of a chain stands for it.
      .filter(order => order.state !== 'replaced' && hasSize(order) && !news.isHidden(order.orderId) && wanted(order))
      .map(order => sights.chain(order))
      .sort((a, b) => timeOf(b) - timeOf(a) || (b.id > a.id ? 1 : -1))
  )
}

function timeOf({ first, last }: Chain): number {
  return isLive(last) ? first.acceptedAt : last.updatedAt
}
