/** A customer's operations on orders: submit, cancel, replace. */
import { admit, checkClientOrderId, checkTicket, type Figures, figuresOf, notionalUnits, type Ticket } from './admission.ts'
import type { CommandContext, Refusal } from './command-context.ts'
import { close, end, fill } from './execution.ts'
import { hold } from './margin.ts'
import { waitForStop, work } from './matching.ts'
import { workMultiLeg } from './multi-leg-matching.ts'
import { checkMultiLeg, legsOf, multiLegFiguresOf } from './multi-leg-ticket.ts'
import { isAuction, openingFor } from './sessions.ts'
import { type Account, holdingOf, isBuy, isLive, isUntriggered, type Leg, leaves, type Order, type OrderBook, refer } from './state.ts'
import type { CancelCommand, ExecuteCommand, Micros, OrderRef, ReplaceCommand, SubmitCommand, SubmitMultiLegCommand } from './types.ts'
import { formatMoney, formatScaled, type Money, min, positive, type Quantity } from './units.ts'

export function submit(context: CommandContext, command: SubmitCommand) {
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  const badId = checkClientOrderId(account, command.clientOrderId)
  if (badId !== null) return context.refused(command, account.id, badId, byClientOrderId(context, account, command.clientOrderId))
  const book = context.book(command.symbol)
  if (book === undefined)
    return context.refused(command, account.id, { code: 'unknown_symbol', message: `${command.symbol} is not traded here.` })
  const figures = figuresOf(command)
  const problem = tooMany(context, account) ?? checkTicket(account, book, command, figures, context.state.now)
  const buy = isBuy(command.side)
  const notional = problem === null ? figures.notional : null
  const quantity = notional === null ? figures.quantity : notionalUnits(book, buy, notional, figures.limit)
  const order = newOrder(context, {
    account,
    book,
    ticket: command,
    figures: { ...figures, quantity },
    clientOrderId: command.clientOrderId
  })
  const refusal = problem ?? (quantity === 0n ? tooSmall(book, figures.notional) : admit(order, quantity ?? 0n, context.state.now))
  if (refusal === null) {
    accept(context, order)
    place(context, order)
  } else reject(context, order, refusal)
}

/** Accepts a multi-leg order; refused legs leave no order. */
export function submitMultiLeg(context: CommandContext, command: SubmitMultiLegCommand) {
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  const badId = checkClientOrderId(account, command.clientOrderId)
  if (badId !== null) return context.refused(command, account.id, badId, byClientOrderId(context, account, command.clientOrderId))
  const legs = legsOf(context, command)
  if ('code' in legs) return context.refused(command, account.id, legs)
  const [first] = legs
  if (first === undefined) return
  const figures = { ...multiLegFiguresOf(command), notional: null, stop: null }
  const problem = tooMany(context, account) ?? checkMultiLeg(account, legs, command, context.state.now)
  const ticket = { ...command, notional: null, stopPrice: null }
  const order = newOrder(context, { account, book: first.book, ticket, figures, clientOrderId: command.clientOrderId, legs })
  const refusal = problem ?? admit(order, figures.quantity ?? 0n, context.state.now)
  if (refusal === null) {
    accept(context, order)
    place(context, order)
  } else reject(context, order, refusal)
}

export function cancel(context: CommandContext, command: CancelCommand) {
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  const order = find(context, account, command.order)
  if (order === undefined) return context.refused(command, account.id, unknownOrder(command.order))
  if (!isLive(order)) return context.refused(command, account.id, notOpen(order), order)
  end(context, order, 'canceled', 'requested', 'Canceled on request.')
}

export function execute(context: CommandContext, command: ExecuteCommand) {
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  const order = find(context, account, command.order)
  if (order === undefined) return context.refused(command, account.id, unknownOrder(command.order))
  if (!isLive(order) || order.limit === null || order.legs !== null) return context.refused(command, account.id, notOpen(order), order)
  fill(context, order, min(positive(command.quantity, 'quantity'), leaves(order)), order.limit, 'STREET')
}

export function replace(context: CommandContext, command: ReplaceCommand) {
  const account = context.account(command.accountId)
  if (account === undefined) return context.refused(command, command.accountId, unknownAccount(command.accountId))
  const old = find(context, account, command.order)
  if (old === undefined) return context.refused(command, account.id, unknownOrder(command.order))
  const early = checkClientOrderId(account, command.newClientOrderId) ?? (isLive(old) ? null : notOpen(old))
  if (early !== null) return context.refused(command, account.id, early, old)
  const wanted =
    old.legs === null ? replacement(old, command, context.state.now) : replacedMultiLeg(old, old.legs, command, context.state.now)
  if ('code' in wanted) return context.refused(command, account.id, wanted, old)
  const order = successor(context, old, wanted, command.newClientOrderId)
  const left = (order.quantity ?? 0n) - order.carried
  const refusal = left > 0n ? readmit(old, order, left, context.state.now) : filledAlready(old)
  if (refusal !== null) return context.refused(command, account.id, refusal, old)
  old.replacedBy = order.id
  const keeps = order.limit === old.limit && order.stop === old.stop && left <= leaves(old)
  if (keeps) inherit(old, order)
  close(context, old, 'replaced')
  // The old order's hold was released when the new one was admitted, so closing the old one releases nothing twice.
  accept(context, order)
  context.order(old, 'replaced')
  if (!keeps) place(context, order)
}

export interface Draft {
  readonly account: Account
  readonly book: OrderBook
  readonly ticket: Ticket
  readonly figures: Figures
  readonly clientOrderId: string
  readonly replaces?: Order
  readonly legs?: readonly Leg[]
}

/** `identity`: for an order that is only previewed, so that it uses none of the numbers of placed orders. */
export function newOrder(
  context: CommandContext,
  { account, book, ticket, figures, clientOrderId, replaces, legs }: Draft,
  identity: { readonly id: string; readonly number: number } = context.nextId('order')
): Order {
  const { id, number } = identity
  const { now } = context.state
  return {
    id,
    number,
    clientOrderId,
    account,
    book,
    side: ticket.side,
    buy: isBuy(ticket.side),
    legs: legs ?? null,
    orderType: ticket.orderType,
    timeInForce: ticket.timeInForce,
    quantity: figures.quantity,
    notional: figures.notional,
    limit: figures.limit,
    stop: figures.stop,
    carried: replaces === undefined ? 0n : replaces.carried + replaces.filled,
    replaces: replaces?.id ?? null,
    acceptedAt: now,
    state: 'open',
    triggered: replaces?.triggered ?? false,
    notionalLeft: figures.notional,
    filled: 0n,
    traded: 0n,
    fees: 0n,
    fills: [],
    reason: null,
    replacedBy: null,
    updatedAt: now,
    lastFillAt: null,
    session: replaces?.session ?? openingFor(book.market, book.opened),
    need: 0n,
    feeNeed: 0n,
    heldQuantity: 0n,
    heldReserve: 0n,
    heldFees: 0n,
    queue: null,
    node: null
  }
}

function register(context: CommandContext, order: Order): void {
  context.state.orders.set(order.id, order)
  refer(order, 1)
  order.account.orders.push(order)
  order.account.clientOrderIds.set(order.clientOrderId, order.number)
}

function accept(context: CommandContext, order: Order): void {
  register(context, order)
  order.account.live.add(order)
  order.state = isUntriggered(order) || isAuction(order.timeInForce) ? 'held' : 'open'
  context.touch(order.account, null)
  context.order(order, 'accepted')
}

function reject(context: CommandContext, order: Order, refusal: Refusal): void {
  order.state = 'rejected'
  order.reason = refusal
  register(context, order)
  context.state.closed.push(order)
  context.order(order, 'rejected')
}

/** Puts an accepted order into its queue or book. */
function place(context: CommandContext, order: Order): void {
  if (order.legs !== null) workMultiLeg(context, order)
  else if (isAuction(order.timeInForce)) {
    order.queue = order.timeInForce === 'OPEN' ? order.book.opening : order.book.closing
    order.node = order.queue.add(0n, order)
  } else if (isUntriggered(order)) waitForStop(context, order)
  else work(context, order)
}

/** The figures of a replacement, or why there cannot be one. */
function replacement(old: Order, command: ReplaceCommand, now: Micros): Figures | Refusal {
  const ticket: Ticket = {
    side: old.side,
    orderType: old.orderType,
    timeInForce: old.timeInForce,
    quantity: old.notional === null ? (command.quantity ?? textOrNull(old.quantity)) : command.quantity,
    notional: old.notional === null ? command.notional : (command.notional ?? formatMoney(old.notional)),
    limitPrice: command.limitPrice ?? textOrNull(old.limit),
    stopPrice: command.stopPrice ?? textOrNull(old.stop)
  }
  const figures = figuresOf(ticket)
  if (old.triggered && figures.stop !== old.stop)
    return { code: 'bad_price', message: 'The stop was reached already; its price can no longer be changed.' }
  return checkTicket(old.account, old.book, ticket, figures, now) ?? figures
}

function replacedMultiLeg(old: Order, legs: readonly Leg[], command: ReplaceCommand, now: Micros): Figures | Refusal {
  if (command.notional !== null)
    return { code: 'bad_notional', message: 'A multi-leg order takes a quantity of spreads, not a notional amount.' }
  if (command.stopPrice !== null) return { code: 'bad_price', message: 'A multi-leg order takes no stop price.' }
  const ticket = {
    orderType: old.limit === null ? ('MKT' as const) : ('LMT' as const),
    timeInForce: old.timeInForce,
    quantity: command.quantity ?? formatScaled(old.quantity ?? 0n),
    limitPrice: command.limitPrice ?? textOrNull(old.limit)
  }
  return checkMultiLeg(old.account, legs, ticket, now) ?? { ...multiLegFiguresOf(ticket), notional: null, stop: null }
}

function successor(context: CommandContext, old: Order, figures: Figures, clientOrderId: string): Order {
  const legs = old.legs?.map(leg => ({ ...leg, traded: 0n, fees: 0n, fills: [] }))
  const draft = {
    account: old.account,
    book: old.book,
    ticket: ticketOf(old),
    clientOrderId,
    replaces: old,
    ...(legs === undefined ? {} : { legs })
  }
  if (figures.notional === null || old.notional === null || old.notionalLeft === null) return newOrder(context, { ...draft, figures })
  const spent = old.notional - old.notionalLeft
  const units = notionalUnits(old.book, old.buy, figures.notional - spent, figures.limit)
  const order = newOrder(context, { ...draft, figures: { ...figures, quantity: old.carried + old.filled + units } })
  order.notionalLeft = figures.notional - spent
  return order
}

function ticketOf({ side, orderType, timeInForce }: Order): Ticket {
  return { side, orderType, timeInForce, quantity: null, notional: null, limitPrice: null, stopPrice: null }
}

/** Admits the new order as if the old one were gone. If refused, restores the old one's hold. */
function readmit(old: Order, order: Order, left: Quantity, at: number): Refusal | null {
  const holding = holdingOf(old.account, old.book, at)
  const before = leaves(old)
  hold(old, holding, 0n)
  const refusal = admit(order, left, at)
  if (refusal !== null) hold(old, holding, before)
  return refusal
}

/** Gives the old order's queue position to the new one. */
function inherit(old: Order, order: Order): void {
  for (const { book } of old.legs ?? []) book.multiLegOrders = book.multiLegOrders.map(other => (other === old ? order : other))
  order.queue = old.queue
  order.node = old.node
  if (old.node !== null) old.node.item = order
  old.queue = null
  old.node = null
}

export function find(context: CommandContext, account: Account, ref: OrderRef): Order | undefined {
  if ('clientOrderId' in ref) return byClientOrderId(context, account, ref.clientOrderId) ?? undefined
  const order = context.state.orders.get(ref.orderId)
  return order?.account === account ? order : undefined
}

function byClientOrderId(context: CommandContext, account: Account, clientOrderId: string): Order | null {
  const number = account.clientOrderIds.get(clientOrderId)
  return number === undefined ? null : (context.state.orders.get(context.idOf('order', number)) ?? null)
}

function textOrNull(value: bigint | null): string | null {
  return value === null ? null : formatScaled(value)
}

export function tooMany(context: CommandContext, account: Account): Refusal | null {
  const { openOrdersMax } = context.state.settings
  if (account.live.size < openOrdersMax) return null
  return {
    code: 'too_many_open_orders',
    message: `The account has ${openOrdersMax} open orders, as many as it may have; cancel some first.`
  }
}

export function tooSmall(book: OrderBook, notional: Money | null): Refusal {
  return { code: 'bad_notional', message: `${formatMoney(notional ?? 0n)} does not pay for the smallest quantity of ${book.symbol}.` }
}

function filledAlready(old: Order): Refusal {
  const filled = formatScaled(old.carried + old.filled)
  return { code: 'quantity_already_filled', message: `${filled} is filled already; a replacement's total must be more than that.` }
}

function notOpen(order: Order): Refusal {
  return { code: 'order_not_open', message: `The order is ${order.state} and can no longer be changed.` }
}

function unknownOrder(ref: OrderRef): Refusal {
  const named = 'orderId' in ref ? `id ${ref.orderId}` : `client order id ${ref.clientOrderId}`
  return { code: 'unknown_order', message: `No order with the ${named} is known in this account.` }
}

export function unknownAccount(accountId: string): Refusal {
  return { code: 'unknown_account', message: `There is no account ${accountId}.` }
}
