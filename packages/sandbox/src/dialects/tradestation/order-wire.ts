/** The Order object of REST and of the order stream. */

import { type Decimal, isZero, minus, negated, times } from '@trunkline/core/domain/decimal'
import type { Side } from '@trunkline/core/domain/vocabulary'
import { type InstrumentSpec, isLive, type Overlay } from '../frame/brokerage.ts'
import { type Chain, fillsOf } from './chains.ts'
import { average, decimal, fees, total } from './figures.ts'
import { DURATION_OF, STATUS_TEXTS, type Status, statusOf, type TradeAction, TYPE_OF } from './order-enums.ts'
import { assetOf, shownSymbol } from './symbols.ts'
import { dayOf, timeOf } from './times.ts'

export interface OrderDetails {
  /** As the owner knows the account. */
  readonly accountId: string
  readonly overlay: Overlay | undefined
  /** What a share order was placed as; null: not known, or no share order. */
  readonly action: TradeAction | null
  readonly instrumentOf: (symbol: string) => InstrumentSpec | undefined
}

const GTC_DAYS = 90
const DAY_MICROS = 86_400_000_000

/** `status`: the status of a stream frame, where it differs from the order's state; a closed order reported as `open` has no closing time yet. */
export function orderWire(
  chain: Chain,
  details: OrderDetails,
  status: Status = statusFor(chain, details)
): Readonly<Record<string, unknown>> {
  const { first, last } = chain
  const fills = fillsOf(chain, null)
  const price = average(fills)
  const closed = status === 'FLL' || status === 'FLP' || status === 'OUT' || status === 'TSC' || status === 'EXP' || status === 'REJ'
  const isMultiLeg = last.legs !== null
  const reason = details.overlay?.refusedLater ?? last.reason
  return {
    AccountID: details.accountId,
    ...(closed && !isLive(last) && last.state !== 'replaced' ? { ClosedDateTime: timeOf(last.updatedAt) } : {}),
    CommissionFee: fees(fills),
    Currency: 'USD',
    Duration: DURATION_OF[last.timeInForce],
    FilledPrice: price === null ? '0' : signed(price, last.side, isMultiLeg),
    ...(last.timeInForce.startsWith('GTC') ? { GoodTillDate: dayOf(timeOf(first.acceptedAt + GTC_DAYS * DAY_MICROS).slice(0, 10)) } : {}),
    Legs: isMultiLeg ? multiLegLegs(chain, details, status) : [singleLeg(chain, details, status)],
    ...(last.limitPrice === null ? {} : { LimitPrice: signed(decimal(last.limitPrice), last.side, isMultiLeg) }),
    OpenedDateTime: timeOf(first.acceptedAt),
    OrderID: chain.id,
    OrderType: TYPE_OF[last.orderType],
    PriceUsedForBuyingPower: last.limitPrice ?? last.stopPrice ?? price ?? '0',
    ...(status === 'REJ' && reason !== null ? { RejectReason: reason.message } : {}),
    Routing: 'Intelligent',
    ...(isMultiLeg ? { Spread: 'Custom' } : {}),
    Status: status,
    StatusDescription: STATUS_TEXTS[status],
    ...(last.stopPrice === null ? {} : { StopPrice: last.stopPrice }),
    UnbundledRouteFee: '0'
  }
}

export function statusFor(chain: Chain, { overlay }: Pick<OrderDetails, 'overlay'>): Status {
  return statusOf(chain.last, overlay, !isZero(total(fillsOf(chain, null))))
}

/** A multi-leg order's price is what is paid for it; the sandbox's price of a sale is what is received. */
function signed(price: Decimal, side: Side, isMultiLeg: boolean): Decimal {
  return isMultiLeg && side === 'SELL' && !isZero(price) ? negated(price) : price
}

interface LegFacts {
  readonly symbol: string
  readonly side: Side
  readonly ordered: Decimal
  readonly executed: Decimal
  readonly price: Decimal | null
}

function singleLeg(chain: Chain, details: OrderDetails, status: Status): object {
  const { last } = chain
  const fills = fillsOf(chain, null)
  const ordered = decimal(last.quantity ?? '0')
  const facts = { symbol: last.symbol ?? '', side: last.side, ordered, executed: total(fills), price: average(fills) }
  return leg(facts, details, status)
}

function multiLegLegs(chain: Chain, details: OrderDetails, status: Status): readonly object[] {
  const { legs, quantity } = chain.last
  return (legs ?? []).map(({ symbol, side, ratio }) => {
    const fills = fillsOf(chain, symbol)
    const ordered = times(decimal(quantity ?? '0'), decimal(ratio))
    return leg({ symbol, side, ordered, executed: total(fills), price: average(fills) }, details, status)
  })
}

function leg({ symbol, side, ordered, executed, price }: LegFacts, details: OrderDetails, status: Status): object {
  const instrument = details.instrumentOf(symbol)
  const [buyOrSell, openOrClose] = directionOf(side, details.action)
  return {
    AssetType: instrument === undefined ? 'UNKNOWN' : assetOf(instrument),
    BuyOrSell: buyOrSell,
    // An expired order claims all of its quantity, and no price for it.
    ExecQuantity: status === 'EXP' && isZero(executed) ? ordered : executed,
    ...(price === null ? {} : { ExecutionPrice: price }),
    ...contractOf(instrument),
    OpenOrClose: openOrClose,
    QuantityOrdered: ordered,
    // An expired order reads as if nothing were left of it, a cancelled one does not.
    QuantityRemaining: status === 'EXP' ? '0' : minus(ordered, executed),
    Symbol: shownSymbol(symbol)
  }
}

function directionOf(side: Side, action: TradeAction | null): readonly [buyOrSell: string, openOrClose: string] {
  if (action === 'SELLSHORT') return ['SellShort', 'Open']
  if (action === 'BUYTOCOVER') return ['BuyToCover', 'Close']
  const isBuy = side.startsWith('BUY')
  const opens = side.endsWith('_TO_OPEN') || (isBuy && !side.endsWith('_TO_CLOSE'))
  return [isBuy ? 'Buy' : 'Sell', opens ? 'Open' : 'Close']
}

function contractOf(instrument: InstrumentSpec | undefined): object {
  if (instrument?.option !== undefined) {
    const { underlying, right, strike, expiration } = instrument.option
    return { Underlying: underlying, OptionType: right === 'call' ? 'CALL' : 'PUT', StrikePrice: strike, ExpirationDate: dayOf(expiration) }
  }
  return instrument?.future === undefined
    ? {}
    : { Underlying: instrument.future.root, ExpirationDate: timeOf(instrument.future.lastTradeAt) }
}
