/** Reads the body of a new order, and checks its side against the position. */

import { commonDivisor } from '@trunkline/core/domain/decimal'
import type { Side } from '@trunkline/core/domain/vocabulary'
import type { Body } from '../frame/body.ts'
import { type Account, type MultiLegTicket, Problem, type Ticket } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { ACTIONS, DURATIONS, type TradeAction, TYPES } from './order-enums.ts'
import { accountOf } from './ownership.ts'
import { bad, refuse } from './reading.ts'
import { checkSide } from './sides.ts'
import { meantSymbols } from './symbols.ts'

export interface Placing {
  readonly ticket: Ticket | MultiLegTicket
  /** What a share order is to be remembered as. */
  readonly action: TradeAction | null
  readonly account: Account
}

interface Wanted {
  readonly symbol: string
  readonly quantity: string
  readonly action: TradeAction
}

const LEGS_MAX = 12
const CONFIRM_ID = /^[\x21-\x7e]{1,22}$/

/** What the sandbox cannot carry out, and so must not accept. */
const NOT_EMULATED = ['OSOs', 'AdvancedOptions'] as const

/**
 * Reads the order, and loads its symbols into the state.
 * @throws Problem `bad_request` for what cannot be read, others (of status 422) for what is refused
 */
export async function readPlacing(brokerage: BrokerageView, login: string, body: Body): Promise<Placing> {
  const number = body.text('AccountID')
  const account = accountOf(brokerage.customers, login, number)
  if (account === undefined) throw new Problem('scope_missing', `Account ${number.slice(0, 40)} is not one of this user's`)
  for (const name of NOT_EMULATED) if (isFilled(body, name)) refuse(`${name} are not emulated by this sandbox`)
  const wanted = wantedOf(body)
  const common = {
    accountId: account.id,
    orderType: TYPES[body.member('OrderType', keysOf(TYPES))],
    timeInForce: durationOf(body),
    limitPrice: body.decimalOr('LimitPrice'),
    clientOrderId: confirmIdOf(body)
  }
  const symbols = await symbolsOf(brokerage, wanted)
  const [only, ...others] = wanted
  if (only === undefined) return bad('Symbol is required')
  if (others.length > 0) return { account, action: null, ticket: multiLegOf(common, wanted, symbols) }
  const symbol = symbols[0] ?? only.symbol
  const ticket: Ticket = {
    ...common,
    symbol,
    side: ACTIONS[only.action],
    quantity: only.quantity,
    notional: null,
    stopPrice: body.decimalOr('StopPrice')
  }
  checkHours(brokerage, ticket)
  checkSide(brokerage, ticket, only.action)
  return { account, action: brokerage.contracts.find(symbol)?.kind === 'STK' ? only.action : null, ticket }
}

function keysOf<Table extends object>(table: Table): readonly (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[]
}

function isFilled(body: Body, name: (typeof NOT_EMULATED)[number]): boolean {
  return name === 'OSOs' ? body.bodies(name).length > 0 : body.has(name) && !body.body(name).isEmpty
}

function wantedOf(body: Body): readonly Wanted[] {
  const legs = body.bodies('Legs')
  if (legs.length > LEGS_MAX) bad(`at most ${LEGS_MAX} Legs`)
  return (legs.length > 0 ? legs : [body]).map(leg => ({
    symbol: leg.text('Symbol'),
    quantity: wholeOf(leg),
    action: leg.member('TradeAction', keysOf(ACTIONS))
  }))
}

function wholeOf(body: Body): string {
  const quantity = body.decimalOr('Quantity') ?? bad('Quantity is required')
  if (!/^[1-9]\d{0,9}$/.test(quantity)) refuse(`Quantity ${quantity} is not a whole number above zero`)
  return quantity
}

function durationOf(body: Body): Ticket['timeInForce'] {
  const duration = body.body('TimeInForce').text('Duration').toUpperCase()
  const known = keysOf(DURATIONS).find(candidate => candidate === duration)
  if (known !== undefined) return DURATIONS[known]
  if (['GTD', 'GDP', '1', '3', '5'].includes(duration)) return refuse(`The duration ${duration} is not emulated by this sandbox`)
  return bad(`Duration must be one of ${keysOf(DURATIONS).join(', ')}`)
}

function confirmIdOf(body: Body): string | null {
  const id = body.textOr('OrderConfirmID')
  return id === null || CONFIRM_ID.test(id) ? id : bad('OrderConfirmID must be 1 to 22 characters')
}

async function symbolsOf(brokerage: BrokerageView, wanted: readonly Wanted[]): Promise<readonly string[]> {
  const symbols = wanted.map(({ symbol: text }) => {
    const found = meantSymbols(text).find(symbol => brokerage.contracts.find(symbol) !== null)
    if (found === undefined) return refuse(`Invalid symbol ${text.slice(0, 40)}`)
    if (brokerage.contracts.find(found)?.kind === 'CRYPTO') return refuse(`${text} cannot be traded through this API`)
    return found
  })
  await brokerage.contracts.bring(symbols)
  return symbols
}

type Common = Pick<Ticket, 'accountId' | 'orderType' | 'timeInForce' | 'limitPrice' | 'clientOrderId'>

/** Legs have quantities of their own; the sandbox has multi-leg orders and what one contains. The price is what is paid: a credit is below zero. */
function multiLegOf(common: Common, wanted: readonly Wanted[], symbols: readonly string[]): MultiLegTicket {
  const { orderType, ...others } = common
  if (orderType !== 'MKT' && orderType !== 'LMT') return refuse('Orders with several legs are Market or Limit orders')
  const quantities = wanted.map(({ quantity }) => BigInt(quantity))
  const units = quantities.reduce(commonDivisor)
  const legs = wanted.map(({ action }, index): { symbol: string; side: Side; ratio: string } => ({
    symbol: symbols[index] ?? '',
    side: ACTIONS[action],
    ratio: String((quantities[index] ?? units) / units)
  }))
  return { ...others, orderType, side: 'BUY', quantity: String(units), legs }
}

/** Outside regular hours only orders with a limit are taken. */
function checkHours({ state }: BrokerageView, { symbol, orderType, timeInForce }: Ticket): void {
  if (!timeInForce.endsWith('+') || orderType === 'LMT' || orderType === 'STPLMT') return
  if (state.engine.market(symbol)?.phase !== 'open') refuse('Only Limit orders are taken outside of regular trading hours')
}
