/** Orders as TradeStation shows them. There an order that changes keeps its id. */

import { type Decimal, isZero, minus, negated, times } from '@trunkline/core/domain/decimal'
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import { type FillView, isLive, type OrderView } from '../frame/brokerage.ts'
import type { BrokerageView, StateView } from '../frame/brokerage-view.ts'
import { average, type Chain, decimal, fillsOf, total } from '../frame/order-chain.ts'
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

/** `status`: the status of a stream frame, where it differs from the order's state. */
export function orderWire({ state, contracts, customers }: BrokerageView, chain: Chain, status?: Status) {
  const { id, first, last } = chain
  const { accountId, orderType, timeInForce, limitPrice, stopPrice, side } = last
  const overlay = state.overlay(last.orderId)
  const fills = fillsOf(chain)
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
      const filled = fillsOf(chain, last.legs === null ? undefined : symbol)
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
