import type { Previewed } from '@trunkline/core/app/orders/preview-order'
import { REJECT_CODES } from '@trunkline/core/domain/vocabulary'
import { NOTHING_ESTIMATED } from '@trunkline/core/ports/preview'
import Type, { type Static } from 'typebox'
import { maybe, money } from './amounts.ts'
import { decimal, nullable, oneOf, record, timestamp, uuid } from './common.ts'

const maybeDecimal = (description: string) => nullable(decimal, `${description} Null if the broker does not state it.`)

export const previewRecord = record(
  'OrderPreview',
  'The broker’s estimate of an order’s cost. It is not a guarantee: prices move, and nothing is reserved for it.',
  {
    account_id: uuid,
    broker: Type.String(),
    outcome: oneOf(['estimated', 'refused'], {
      description:
        '`estimated`: the broker would accept the order at this moment. `refused`: it would not, and `broker_message` gives the reason.'
    }),
    broker_message: nullable(Type.String(), 'The broker’s refusal message; null when `outcome` is `estimated`.'),
    reject_code: nullable(oneOf(REJECT_CODES), 'Why the order is refused, with the same values as the `reject_code` of an order.'),
    warnings: Type.Array(Type.String(), { description: 'The broker’s own message about an order that it would accept.' }),
    source: oneOf(['broker'], { description: 'Where the numbers come from. All of them are the broker’s; the service computes none.' }),
    currency_code: nullable(Type.String(), 'The currency of the amounts.'),
    estimated_price: maybeDecimal('Per unit, like `order_limit_price`.'),
    estimated_cost: maybeDecimal('Without commission and fees. Positive if paid, negative if received.'),
    estimated_total: maybeDecimal('With commission and fees, signed like `estimated_cost`.'),
    commission: maybeDecimal('`0.00` means that the broker states that there is none.'),
    fees: maybeDecimal('Fees in addition to the commission.'),
    initial_margin: maybeDecimal('Initial margin that the order needs.'),
    margin_change: maybeDecimal('The change of the account’s margin requirement; negative if it decreases.'),
    buying_power_change: maybeDecimal('The change of the buying power; negative if it decreases.'),
    previewed_at: timestamp
  }
)

export function presentPreview({ account, preview, requestedAt }: Previewed): Static<typeof previewRecord> {
  const refusal = preview.kind === 'refused' ? preview : null
  const estimate = preview.kind === 'refused' ? NOTHING_ESTIMATED : preview.estimate
  return {
    account_id: account.accountId,
    broker: account.broker,
    outcome: preview.kind,
    broker_message: refusal?.message ?? null,
    reject_code: refusal?.rejectCode ?? null,
    warnings: [...estimate.warnings],
    source: 'broker',
    currency_code: estimate.currency,
    estimated_price: maybe(money, estimate.price),
    estimated_cost: maybe(money, estimate.cost),
    estimated_total: maybe(money, estimate.total),
    commission: maybe(money, estimate.commission),
    fees: maybe(money, estimate.fees),
    initial_margin: maybe(money, estimate.initialMargin),
    margin_change: maybe(money, estimate.marginChange),
    buying_power_change: maybe(money, estimate.buyingPowerChange),
    previewed_at: requestedAt
  }
}
