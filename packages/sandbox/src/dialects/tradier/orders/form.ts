/** Reads an order's form. Invalid values are answered as text, as malformed parameters are. */

import { type Decimal, isDecimal, isPositive } from '@trunkline/core/domain/decimal'
import type { OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import { valuesOf } from '../../frame/brokerage.ts'
import { bad, type Form, isTrue, member, required } from '../parameters.ts'
import { fromTradier } from '../symbols.ts'
import {
  DURATIONS,
  EQUITY_SIDES,
  type EquitySide,
  MULTI_LEG_TYPES,
  type MultiLegPriceType,
  netPrice,
  OPTION_SIDES,
  TYPES
} from './enums.ts'

interface Common {
  readonly orderType: OrderType
  readonly timeInForce: TimeInForce
  readonly duration: keyof typeof DURATIONS
  readonly quantity: number
  readonly tag: string | null
  readonly isPreview: boolean
  readonly limitPrice: Decimal | null
  readonly stopPrice: Decimal | null
}

export interface SingleForm extends Common {
  readonly class: 'equity' | 'option'
  readonly symbol: string
  readonly side: Side
  readonly sideValue: string
  /** Of an equity; null for options. */
  readonly equitySide: EquitySide | null
}

export interface MultiLegForm extends Common {
  readonly class: 'multileg'
  readonly multiLegType: MultiLegPriceType
  readonly legs: readonly { readonly symbol: string; readonly side: Side; readonly ratio: string }[]
  readonly multiLegSide: 'BUY' | 'SELL'
}

const QUANTITY_MAX = 10_000_000
const LEGS_MAX = 4
const TAG = /^[A-Za-z0-9-]{1,255}$/
const ORDER_CLASSES = ['equity', 'option', 'multileg'] as const

/** @throws Problem */
export function readForm(form: Form): SingleForm | MultiLegForm {
  const kind = member(form, 'class', ORDER_CLASSES)
  return kind === 'multileg' ? readMultiLeg(form) : readSingle(form, kind)
}

function readSingle(form: Form, kind: 'equity' | 'option'): SingleForm {
  const orderType = TYPES[member(form, 'type', valuesOf(TYPES))]
  const equitySide = kind === 'equity' ? member(form, 'side', valuesOf(EQUITY_SIDES)) : null
  const optionSide = kind === 'option' ? member(form, 'side', valuesOf(OPTION_SIDES)) : null
  return {
    class: kind,
    ...common(form, orderType),
    quantity: count(form, 'quantity'),
    symbol: kind === 'equity' ? fromTradier(required(form, 'symbol')) : required(form, 'option_symbol'),
    side: equitySide !== null ? EQUITY_SIDES[equitySide] : OPTION_SIDES[optionSide ?? 'buy_to_open'],
    sideValue: equitySide ?? optionSide ?? '',
    equitySide,
    limitPrice: orderType === 'LMT' || orderType === 'STPLMT' ? priceOf(form, 'price') : null,
    stopPrice: orderType === 'STP' || orderType === 'STPLMT' ? priceOf(form, 'stop') : null
  }
}

function readMultiLeg(form: Form): MultiLegForm {
  const multiLegType = member(form, 'type', valuesOf(MULTI_LEG_TYPES))
  const orderType = MULTI_LEG_TYPES[multiLegType]
  const named = legIndexes(form)
  const quantities = named.map(nth => count(form, `quantity[${nth}]`))
  const quantity = quantities.reduce(greatestDivisor)
  const multiLegSide = multiLegType === 'credit' ? 'SELL' : 'BUY'
  return {
    class: 'multileg',
    ...common(form, orderType),
    multiLegType,
    multiLegSide,
    quantity,
    legs: named.map((nth, index) => ({
      symbol: required(form, `option_symbol[${nth}]`),
      side: OPTION_SIDES[member(form, `side[${nth}]`, valuesOf(OPTION_SIDES))],
      ratio: String((quantities[index] ?? quantity) / quantity)
    })),
    limitPrice: netLimit(form, multiLegType, multiLegSide),
    stopPrice: null
  }
}

function netLimit(form: Form, type: MultiLegPriceType, side: 'BUY' | 'SELL'): Decimal | null {
  if (type === 'market') return null
  const price = netPrice(type, type === 'even' ? '0' : priceOf(form, 'price'), side)
  return isDecimal(price) ? price : bad('price', 'is not a number')
}

function legIndexes(form: Form): readonly number[] {
  const named = Array.from({ length: LEGS_MAX }, (_, nth) => nth).filter(nth => form[`option_symbol[${nth}]`] !== undefined)
  if (form[`option_symbol[${LEGS_MAX}]`] !== undefined) bad('option_symbol', `at most ${LEGS_MAX} legs`)
  return named.length < 2 ? bad('option_symbol', 'two legs at least, from [0] on') : named
}

function common(form: Form, orderType: OrderType) {
  const duration = member(form, 'duration', valuesOf(DURATIONS))
  const { tag } = form
  if (tag !== undefined && tag !== '' && !TAG.test(tag)) bad('tag', 'at most 255 letters, digits and dashes')
  if ((duration === 'pre' || duration === 'post') && orderType !== 'LMT') bad('type', `must be limit for duration ${duration}`)
  return {
    orderType,
    duration,
    timeInForce: DURATIONS[duration],
    tag: tag === undefined || tag === '' ? null : tag,
    isPreview: isPreview(form)
  }
}

/** Whether it is only a preview. */
export function isPreview({ preview }: Form): boolean {
  return isTrue(preview)
}

/** A price above zero. */
export function priceOf(form: Form, name: string): Decimal {
  const given = required(form, name)
  return isDecimal(given) && isPositive(given) ? given : bad(name, 'must be a number greater than zero')
}

function count(form: Form, name: string): number {
  const given = required(form, name)
  const value = /^\d{1,8}$/.test(given) ? Number(given) : 0
  return value >= 1 && value <= QUANTITY_MAX ? value : bad(name, `must be a whole number from 1 to ${QUANTITY_MAX}`)
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}
