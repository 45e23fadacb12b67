import { type Decimal, ZERO } from '@trunkline/core/domain/decimal'
import { type Fill, type Order, SUBMISSION_STATES } from '@trunkline/core/domain/order'
import { averageFillPrice, filledQuantity } from '@trunkline/core/domain/order-machine'
import { INSTRUMENTS, ORDER_STATUSES, ORDER_TYPES, REJECT_CODES, SIDES, TIMES_IN_FORCE } from '@trunkline/core/domain/vocabulary'
import Type, { type Static } from 'typebox'
import { maybe, money, quantity } from './amounts.ts'
import { day, decimal, nullable, oneOf, page, record, ticket, timestamp, uuid } from './common.ts'

const side = oneOf(SIDES)
const maybeDecimal = nullable(decimal)
const maybeText = nullable(Type.String())
const broker = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{1,31}$',
  examples: ['SANDBOX'],
  'x-expected': 'an upper-case broker name such as SANDBOX'
})
const clOrderId = Type.String({
  pattern: '^[!-~](?:[ -~]{0,62}[!-~])?$',
  description: 'Chosen by the client; unique per user and trading day (the America/New_York date).',
  examples: ['rebalance-2026-11-21-1'],
  'x-expected': '1 to 64 printable ASCII characters without outer spaces'
})
const symbol = Type.String({
  maxLength: 32,
  examples: ['AAPL', 'AAPL261218C00200000', 'ESZ26', 'BTC/USD'],
  'x-expected': 'a share (AAPL), an OCC option (AAPL261218C00200000), a future (ESZ26) or a crypto pair (BTC/USD)'
})

/** The fields that new orders and previews share. */
const terms = {
  side,
  order_type: oneOf(ORDER_TYPES),
  order_tif: oneOf(TIMES_IN_FORCE),
  symbol: Type.Optional(nullable(symbol, 'Null for a multi-leg order.')),
  instrument: Type.Optional(nullable(oneOf(INSTRUMENTS), 'If absent, derived from the format of the symbol.')),
  order_qty: Type.Optional(nullable(decimal, 'Send either this or `order_notional`. At most nine decimal places.')),
  order_notional: Type.Optional(nullable(decimal, 'An amount of money instead of a quantity.')),
  order_limit_price: Type.Optional(nullable(decimal, 'For `LMT` and `STPLMT` only. At most nine decimal places.')),
  stop_price: Type.Optional(nullable(decimal, 'For `STP` and `STPLMT` only. At most nine decimal places.')),
  legs: Type.Optional(
    nullable(
      Type.Array(
        ticket('NewLeg', {
          symbol,
          action: side,
          ratio: Type.String({
            pattern: '^[1-9][0-9]{0,5}$',
            examples: ['1'],
            'x-expected': 'a positive whole number as a string, such as "1"'
          })
        }),
        { minItems: 2, maxItems: 4, 'x-expected': 'a list of 2 to 4 legs' }
      ),
      'For `MLEG_OPT` only. `order_qty` and `order_limit_price` apply to the whole order.'
    )
  )
}

export const orderTicket = ticket('NewOrder', { account_id: uuid, cl_order_id: clOrderId, broker, ...terms })
export const previewTicket = ticket('NewPreview', { account_id: uuid, broker, ...terms })

export const modifyTicket = ticket('OrderChange', {
  new_cl_order_id: clOrderId,
  broker,
  order_qty: Type.Optional(nullable(decimal, 'The new total quantity, never the remainder.')),
  order_notional: Type.Optional(maybeDecimal),
  order_limit_price: Type.Optional(maybeDecimal),
  stop_price: Type.Optional(maybeDecimal)
})

const fillRecord = record('Fill', 'One execution.', {
  time: timestamp,
  quantity: decimal,
  price: decimal,
  fill_id: Type.String(),
  exec_dest: maybeText
})

export const orderRecord = record('Order', 'An order and everything that is known about it.', {
  order_id: uuid,
  cl_order_id: Type.String({ description: 'For an order placed outside this service: the broker’s own id.' }),
  user_id: Type.String(),
  connection_id: uuid,
  account_id: uuid,
  account_number: Type.String(),
  platform: Type.String({ description: 'The broker’s platform.' }),
  broker: Type.String(),
  normalized_status: oneOf(ORDER_STATUSES),
  broker_status: maybeText,
  broker_message: nullable(
    Type.String(),
    'The broker’s last message about the order, or the service’s if the broker was not asked or did not respond. It says why the order is `rejected` or, for an open order, why the broker refused its last cancel or modification. Null if there is no message.'
  ),
  reject_code: nullable(
    oneOf(REJECT_CODES),
    'Why the broker rejected the order, with the same values for every broker; `broker_message` has its own text. `other`: none of the listed reasons. `order_ended`: the order that this one should have replaced had already ended, so read that order before you place another. Null if the order is not `rejected`, if the broker gave no reason and, except for `order_ended`, if it was not the broker that rejected the order (`submission.state` `not_sent` or `not_received`).'
  ),
  submission: record('Submission', 'Whether the order reached the broker.', {
    state: oneOf(SUBMISSION_STATES, {
      description:
        '`unknown`: the broker may have the order, and the service looks it up. `not_sent` and `not_received`: it is proved that the broker does not have the order.'
    }),
    since: timestamp,
    attempts: Type.Integer({ description: 'How often the order was sent to the broker: 0 or 1.' }),
    method: nullable(
      oneOf(['reply', 'stream', 'lookup', 'snapshot', 'recovery', 'absence', 'operator']),
      'How the state was determined. `operator`: by a decision of the service’s operator.'
    )
  }),
  side,
  order_qty: maybeDecimal,
  order_notional: maybeDecimal,
  filled_qty: decimal,
  average_fill_price: maybeDecimal,
  order_type: oneOf(ORDER_TYPES),
  broker_order_type: maybeText,
  order_tif: oneOf(TIMES_IN_FORCE),
  order_limit_price: maybeDecimal,
  stop_price: maybeDecimal,
  symbol: nullable(Type.String(), 'Null for a multi-leg order.'),
  instrument: oneOf(INSTRUMENTS),
  exec_dest: maybeText,
  trading_day: day,
  entry_time: timestamp,
  last_exec_time: nullable(timestamp),
  last_modified_time: timestamp,
  system_time: timestamp,
  fills: Type.Array(fillRecord),
  legs: nullable(
    Type.Array(
      record('Leg', 'One leg of a multi-leg order.', {
        symbol: Type.String(),
        action: side,
        ratio: Type.String(),
        fills: Type.Array(fillRecord)
      })
    )
  ),
  replaces_order_id: nullable(uuid),
  replaced_by_order_id: nullable(uuid),
  previously_filled_qty: nullable(
    decimal,
    'The filled quantity of the orders that this one replaced, or should have replaced. `order_qty` is the total, so `order_qty` − `previously_filled_qty` − `filled_qty` is left. Null if the order replaces no other.'
  ),
  revision: Type.Integer({
    minimum: 1,
    description:
      'Increases with every change of the order. Of two records of the same order, keep the one with the higher revision, wherever it came from.'
  })
})
export const orderPage = page('OrderPage', orderRecord)

export function presentOrder(order: Order): Static<typeof orderRecord> {
  // No spread: creating and serialising an object literal with a fixed shape is several times faster.
  const { filled, average } = executionOf(order.fills)
  return {
    order_id: order.orderId,
    cl_order_id: order.clOrdId,
    user_id: order.userId,
    connection_id: order.connectionId,
    account_id: order.accountId,
    account_number: order.accountNumber,
    platform: order.broker,
    broker: order.broker,
    normalized_status: order.status,
    broker_status: order.brokerStatus,
    broker_message: order.brokerMessage,
    reject_code: order.rejectCode,
    submission: order.submission,
    side: order.side,
    order_qty: maybe(quantity, order.quantity),
    order_notional: maybe(money, order.notional),
    filled_qty: quantity(filled),
    average_fill_price: maybe(money, average),
    order_type: order.type,
    broker_order_type: order.brokerOrderType,
    order_tif: order.tif,
    order_limit_price: maybe(money, order.limitPrice),
    stop_price: maybe(money, order.stopPrice),
    symbol: order.symbol,
    instrument: order.instrument,
    exec_dest: order.execDest,
    trading_day: order.tradingDay,
    entry_time: order.entryTime,
    last_exec_time: order.lastExecTime,
    last_modified_time: order.lastModifiedTime,
    system_time: order.systemTime,
    fills: order.fills.map(presentFill),
    legs:
      order.legs?.map(leg => ({ symbol: leg.symbol, action: leg.side, ratio: quantity(leg.ratio), fills: leg.fills.map(presentFill) })) ??
      null,
    replaces_order_id: order.replacesOrderId,
    replaced_by_order_id: order.replacedByOrderId,
    previously_filled_qty: maybe(quantity, order.previouslyFilledQuantity),
    revision: order.revision
  }
}

// TextEncoder instead of a pooled Buffer: these bytes are cached for long, and each would keep a whole pool alive.
const encoder = new TextEncoder()
const written = new WeakMap<Order, Uint8Array>()

/** The record as JSON bytes. Cached, because orders are immutable and are listed far more often than they change. */
export function orderBytes(order: Order): Uint8Array {
  const known = written.get(order)
  if (known !== undefined) return known
  const bytes = encoder.encode(JSON.stringify(presentOrder(order)))
  written.set(order, bytes)
  return bytes
}

function presentFill(fill: Fill): Static<typeof fillRecord> {
  return { time: fill.at, quantity: quantity(fill.quantity), price: money(fill.price), fill_id: fill.fillId, exec_dest: fill.execDest }
}

// Most orders have one fill or none, and need no arithmetic.
function executionOf(fills: readonly Fill[]): { readonly filled: Decimal; readonly average: Decimal | null } {
  const [only] = fills
  if (only === undefined) return { filled: ZERO, average: null }
  if (fills.length === 1) return { filled: only.quantity, average: only.price }
  return { filled: filledQuantity({ fills }), average: averageFillPrice({ fills }) }
}
