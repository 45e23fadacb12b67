/** Which orders are still shown as today's, and which have gone to the historical ones. */

import type { OrderView } from '../../engine/types.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { isLive } from '../../house/wire.ts'
import { newYorkDate } from '../../market/hours.ts'
import type { Chain } from './chains.ts'
import type { Sights } from './sights.ts'

type Needs = Pick<DialectHouse, 'books' | 'news' | 'clock'>

/** Today's orders and all that are open: the open ones by when they were placed, the others by when they ended, the newest first. */
export function todaysOrders(house: Needs, sights: Sights, accounts: readonly string[]): readonly Chain[] {
  return listed(house, sights, accounts, order => isTodays(house, order))
}

/** Closed orders, today's included, that ended on or after a date; the latest first. */
export function pastOrders(house: Needs, sights: Sights, accounts: readonly string[], since: string): readonly Chain[] {
  return listed(house, sights, accounts, order => !isLive(order) && newYorkDate(order.updatedAt) >= since)
}

/** At the end of the day the closed ones are purged. */
export function isTodays({ clock }: Pick<Needs, 'clock'>, order: OrderView): boolean {
  return isLive(order) || newYorkDate(order.updatedAt) >= newYorkDate(clock.now())
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
      .filter(order => order.state !== 'replaced' && !news.isHidden(order.orderId) && wanted(order))
      .map(order => sights.chain(order))
      .sort((a, b) => timeOf(b) - timeOf(a) || (b.id > a.id ? 1 : -1))
  )
}

function timeOf({ first, last }: Chain): number {
  return isLive(last) ? first.acceptedAt : last.updatedAt
}
