/**
 * Orders as TradeStation shows them. A change makes a new order of the sandbox's in place of the old one; there the order changes and keeps its
 * id. So a chain of amendments is one order: the first one's id and time, the last one's terms and state, the fills of all.
 */

import { type Decimal, dividedBy, isZero, minus, negated, parseDecimal, sum, times } from '@trunkline/core/domain/decimal'
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import { type FillView, isLive, type OrderView } from '../frame/brokerage.ts'
import type { BrokerageView, StateView } from '../frame/brokerage-view.ts'
import { digitsOf, internalIdOf } from '../frame/order-ids.ts'
import { timeOf } from './answers.ts'
import { assetOf, shownSymbol } from './symbols.ts'

export const ORDER_TYPES = { Market: 'MKT', Limit: 'LMT', StopMarket: 'STP', StopLimit: 'STPLMT' } as const satisfies Record<
  string,
  OrderType
>
/** As they are asked for. */
export const DURATIONS = {
  ...({ DAY: 'DAY', DYP: 'DAY+', GTC: 'GTC', GCP: 'GTC+', OPG: 'OPEN', CLO: 'CLOSE', IOC: 'IOC', FOK: 'FOK' } as const)
} satisfies Record<string, TimeInForce>
export const ACTIONS = {
  ...({ BUY: 'BUY', SELL: 'SELL', BUYTOCOVER: 'BUY', SELLSHORT: 'SELL', BUYTOOPEN: 'BUY_TO_OPEN' } as const),
  ...({ BUYTOCLOSE: 'BUY_TO_CLOSE', SELLTOOPEN: 'SELL_TO_OPEN', SELLTOCLOSE: 'SELL_TO_CLOSE' } as const)
} satisfies Record<string, Side>
export type TradeAction = keyof typeof ACTIONS

const STATUS_TEXTS = {
  ...{
    OPN: 'Sent',
    ACK: 'Received',
    DON: 'Queued',
    STP: 'Stop Hit',
    FPR: 'Partial Fill (Alive)',
    FLL: 'Filled',
    FLP: 'Partial Fill (UROut)'
  },
  ...{ UCN: 'Cancel Sent', RSN: 'Replace Sent', OUT: 'UROut', TSC: 'Trade Server Canceled', EXP: 'Expired', REJ: 'Rejected' }
}
export type Status = keyof typeof STATUS_TEXTS
const CLOSED: ReadonlySet<Status> = new Set(['FLL', 'FLP', 'OUT', 'TSC', 'EXP', 'REJ'])
const PLACES = 9
/** Changes of one order that are followed; an order changed more often is shown from the oldest of so many. */
const LINKS_MAX = 10_000

export interface Chain {
  /** TradeStation's. */
  readonly id: string
  /** The oldest first; those that the state has forgotten are missing. */
  readonly orders: readonly OrderView[]
  readonly first: OrderView
  readonly last: OrderView
}

/** The chain that an order belongs to. */
export function chainOf(state: Pick<StateView, 'order'>, order: OrderView): Chain {
  const orders = [order]
  const linked = (orderId: string | null): OrderView | undefined => {
    const found = orderId === null || orders.length >= LINKS_MAX ? 'unknown' : state.order([order.accountId], { orderId })
    return typeof found === 'object' ? found : undefined
  }
  for (let at = linked(order.replaces); at !== undefined; at = linked(at.replaces)) orders.unshift(at)
  for (let at = linked(order.replacedBy); at !== undefined; at = linked(at.replacedBy)) orders.push(at)
  const [first = order, last = order] = [orders[0], orders.at(-1)]
  return { id: digitsOf(first.replaces ?? first.orderId), orders, first, last }
}

/** The chain behind an id of TradeStation's, among these accounts. Only its first order's id is one. */
export function chainById({ state, publisher }: BrokerageView, accounts: readonly string[], id: string): Chain | undefined {
  const orderId = internalIdOf(id, number => state.engine.orderId(number))
  if (orderId === null) return undefined
  const order = state.order(accounts, { orderId })
  // The state drops what was replaced long ago, and the order that replaced it keeps its id.
  const changed = () =>
    accounts.flatMap(account => state.engine.orders(account, { live: true })).filter(({ replaces }) => replaces !== null)
  const chains = (typeof order === 'object' ? [order].filter(({ replaces }) => replaces === null) : changed()).map(one =>
    chainOf(state, one)
  )
  return chains.find(chain => chain.id === id && !publisher.isHidden(chain.last.orderId))
}

/** `status`: the status of a stream frame, where it differs from the order's state. */
export function orderWire({ state, contracts, customers }: BrokerageView, { id, orders, first, last }: Chain, status?: Status) {
  const { accountId, orderType, timeInForce, limitPrice, stopPrice, side } = last
  const overlay = state.overlay(last.orderId)
  const fills = orders.flatMap(order => order.fills)
  const own = status ?? statusOf(last, overlay, fills.length > 0)
  const reason = overlay?.refusedLater ?? last.reason
  const legs = last.legs ?? [{ symbol: last.symbol ?? '', side, ratio: '1' }]
  // A multi-leg order's price is what is paid for it; the sandbox's price of a sale is what is received.
  const net = (price: Decimal) => (last.legs !== null && side === 'SELL' && !isZero(price) ? negated(price) : price)
  return {
    AccountID: customers.account(accountId)?.number ?? accountId,
    ...(CLOSED.has(own) && !isLive(last) && last.state !== 'replaced' ? { ClosedDateTime: timeOf(last.updatedAt) } : {}),
    Duration: nameOf(DURATION_NAMES, timeInForce),
    FilledPrice: net(average(fills) ?? decimal('0')),
    Legs: legs.map(({ symbol, side, ratio }) => {
      const ordered = times(decimal(last.quantity ?? '0'), decimal(ratio))
      const filled = last.legs === null ? fills : orders.flatMap(order => order.legs?.find(leg => leg.symbol === symbol)?.fills ?? [])
      const instrument = state.engine.instrument(symbol) ?? contracts.find(symbol)
      const assetType = instrument === null ? 'UNKNOWN' : assetOf(instrument)
      return { AssetType: assetType, ...legWire({ symbol, side, ordered, fills: filled, isExpired: own === 'EXP' }) }
    }),
    ...(limitPrice === null ? {} : { LimitPrice: net(decimal(limitPrice)) }),
    OpenedDateTime: timeOf(first.acceptedAt),
    OrderID: id,
    OrderType: nameOf(ORDER_TYPES, orderType),
    ...(own === 'REJ' && reason !== null ? { RejectReason: reason.message } : {}),
    Routing: 'Intelligent',
    Status: own,
    StatusDescription: STATUS_TEXTS[own],
    ...(stopPrice === null ? {} : { StopPrice: stopPrice })
  }
}

/** As they are shown, which is not as they are asked for. */
const DURATION_NAMES = { ...DURATIONS, 'DAY+': 'DAY+', 'GTC+': 'GTC+' }

/** The last of a value's names. */
function nameOf(names: Readonly<Record<string, string>>, value: string): string {
  return Object.keys(names).findLast(name => names[name] === value) ?? value
}

interface Leg {
  readonly symbol: string
  readonly side: Side
  readonly ordered: Decimal
  readonly fills: readonly FillView[]
  readonly isExpired: boolean
}

/** An expired order claims all of its quantity and no price for it, and reads as if nothing were left of it; a cancelled one does not. */
function legWire({ symbol, side, ordered, fills, isExpired }: Leg) {
  const [executed, price] = [total(fills), average(fills)]
  const isBuy = side.startsWith('BUY')
  return {
    BuyOrSell: isBuy ? 'Buy' : 'Sell',
    ExecQuantity: isExpired && isZero(executed) ? ordered : executed,
    ...(price === null ? {} : { ExecutionPrice: price }),
    OpenOrClose: side.endsWith('_TO_OPEN') || side === 'BUY' ? 'Open' : 'Close',
    QuantityOrdered: ordered,
    QuantityRemaining: isExpired ? '0' : minus(ordered, executed),
    Symbol: shownSymbol(symbol)
  }
}

export function statusOf(order: OrderView, overlay: ReturnType<StateView['overlay']>, isExecuted: boolean): Status {
  switch (order.state) {
    case 'filled':
      return 'FLL'
    case 'expired':
      return 'EXP'
    case 'rejected':
      return 'REJ'
    case 'canceled':
      if (overlay !== undefined && overlay.refusedLater !== null) return 'REJ'
      if (isExecuted) return 'FLP'
      return order.reason?.code === 'split' ? 'TSC' : 'OUT'
    default:
      if (overlay?.busy === 'cancelling') return 'UCN'
      if (overlay?.busy === 'amending') return 'RSN'
      if (isExecuted) return 'FPR'
      return order.state === 'held' && ['OPEN', 'CLOSE'].includes(order.timeInForce) ? 'DON' : 'ACK'
  }
}

/** @throws Malformed for a text that is no plain decimal, which the state does not have */
export function decimal(text: string): Decimal {
  return parseDecimal(text, 'a figure of the state')
}

function total(fills: readonly FillView[]): Decimal {
  return sum(fills.map(({ quantity }) => decimal(quantity)))
}

/** Null without a fill. */
function average(fills: readonly FillView[]): Decimal | null {
  const quantity = total(fills)
  return isZero(quantity) ? null : dividedBy(sum(fills.map(fill => times(decimal(fill.quantity), decimal(fill.price)))), quantity, PLACES)
}
