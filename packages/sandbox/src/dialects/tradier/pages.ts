/** Lists by `page` and `limit`. */

import type { Fault } from '../../house/faults.ts'
import { bad } from './orders/form.ts'

const LIMIT_MAX = 1_000

/** One page; empty behind the last. A fault can have it be the one after. @throws Problem */
export function pageOf<Item>(
  items: readonly Item[],
  query: Readonly<Record<string, string>>,
  otherwise: number,
  fault: Fault | undefined
): readonly Item[] {
  const limit = whole(query, 'limit', otherwise, LIMIT_MAX)
  const asked = whole(query, 'page', 1, Number.MAX_SAFE_INTEGER)
  const page = fault?.do === 'lose_page' && fault.page === asked ? asked + 1 : asked
  return items.slice((page - 1) * limit, page * limit)
}

function whole(query: Readonly<Record<string, string>>, name: string, otherwise: number, most: number): number {
  const given = query[name]
  if (given === undefined) return otherwise
  const value = /^\d{1,9}$/.test(given) ? Number(given) : 0
  return value >= 1 ? Math.min(value, most) : bad(name, 'must be a whole number from 1')
}
