/** Whether an account has what an option order or a multi-leg order needs. */

import type { Refusal } from './command-context.ts'
import { checkEffect } from './contract-checks.ts'
import { hold, purchasePower, setMultiLegNeeds, setNeeds, type Worth, worthOf } from './margin.ts'
import { type Account, holdingOf, type Order } from './state.ts'
import { formatMoney, type Quantity } from './units.ts'

/**
 * Checks an otherwise valid order against the account, and holds what the order needs. Holds nothing if it refuses. An order that needs no
 * more than is held already, such as a closing one, is accepted whatever the account is worth.
 */
export function admitOption(order: Order, left: Quantity, at: number): Refusal | null {
  const { account } = order
  const parts = order.legs?.map(({ book, side, ratio }) => ({ book, side, units: left * ratio })) ?? [
    { book: order.book, side: order.side, units: left }
  ]
  for (const part of parts) {
    const problem = checkEffect(account, part)
    if (problem !== null) return problem
  }
  for (const { book } of parts) holdingOf(account, book, at)
  const before = worthOf(account)
  if (order.legs === null) setNeeds(order, left)
  else {
    setMultiLegNeeds(order, left)
    account.multiLegOrders.add(order)
  }
  const holding = holdingOf(account, order.book, at)
  hold(order, holding, left)
  const refusal = judge(account, before, worthOf(account))
  if (refusal === null) return null
  hold(order, holding, 0n)
  account.multiLegOrders.delete(order)
  return refusal
}

function judge(account: Account, before: Worth, after: Worth): Refusal | null {
  if (after.uncovered > before.uncovered) {
    const message = `A ${account.accountType} account sells calls only against shares it holds, and these would not be covered.`
    return { code: 'short_sale_not_allowed', message }
  }
  if (after.excess >= after.reserved || after.reserved <= before.reserved) return null
  const needed = formatMoney(purchasePower(account, after.reserved - before.reserved))
  const power = formatMoney(purchasePower(account, before.excess - before.reserved))
  return { code: 'insufficient_buying_power', message: `The order needs ${needed} of buying power; ${power} is available.` }
}
