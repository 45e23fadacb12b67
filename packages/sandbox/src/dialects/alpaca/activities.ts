/** What happened to the account's money and positions: fills, fees and all else, newest first. */

import { isZero, minus, negated, parseDecimal, plus, ZERO } from '@trunkline/core/domain/decimal'
import type { TransactionType } from '@trunkline/core/domain/vocabulary'
import { type Answer, type FillView, type Micros, type OrderView, paramOf, type TransactionView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call, DialectRoute } from '../frame/router.ts'
import { Body } from './body.ts'
import type { CustomerView } from './customer-view.ts'
import { executionIdOf, uuidFor } from './ids.ts'
import { badParameter, jsonAnswer } from './problems.ts'
import { instantOf, nanosOf, newYorkOf } from './times.ts'

const PATH = '/alpaca/api/v2/account/activities'
const PAGE_SIZE = { least: 1, most: 100, fallback: 100 }

const TYPES: Readonly<Record<TransactionType, string>> = {
  BUY: 'FILL',
  SELL: 'FILL',
  DIVIDEND: 'DIV',
  INTEREST: 'INT',
  FEE: 'FEE',
  DEPOSIT: 'CSD',
  WITHDRAWAL: 'CSW',
  TRANSFER: 'JNLC',
  SPLIT: 'SPLIT',
  EXERCISE: 'OPEXC',
  ASSIGNMENT: 'OPASN',
  EXPIRATION: 'OPEXP',
  ADJUSTMENT: 'MISC',
  OTHER: 'MISC'
}

export interface ActivityDeps {
  readonly brokerage: BrokerageView
  readonly customerView: CustomerView
}

interface Activity {
  readonly id: string
  readonly type: string
  readonly at: Micros
  readonly row: object
}

export function activityRoutes(deps: ActivityDeps): readonly DialectRoute[] {
  return [
    { method: 'GET', path: PATH, operation: 'transactions.list', handle: call => list(deps, call) },
    { method: 'GET', path: `${PATH}/:type`, operation: 'transactions.list', handle: call => list(deps, call) }
  ]
}

function list(deps: ActivityDeps, call: Call): Answer {
  const { request, customer, fault } = call
  if (fault?.do === 'empty') return jsonAnswer([])
  const body = new Body(request.query)
  const suits = filterOf(body, paramOf(request, 'type'))
  const size = body.count('page_size', PAGE_SIZE)
  const token = body.text('page_token')
  const all = () => activities(deps, customer.id)
  const found = pageOf(all(), { suits, token, size })
  if (found === null) throw badParameter(`invalid page_token: ${token?.slice(0, 64)}`)
  // Pages have no numbers here: anyone who pages begins behind an item, and loses what comes next.
  const isLost = fault?.do === 'lose_page' && token !== null && found.length > 0
  const shown = isLost ? (pageOf(all(), { suits, token: found.at(-1)?.id ?? null, size }) ?? []) : found
  return jsonAnswer(shown.map(({ row }) => row))
}

interface Page {
  readonly suits: (activity: Activity) => boolean
  readonly token: string | null
  readonly size: number
}

/** Null: the item that the page is to begin behind is not there. */
function pageOf(all: Iterable<Activity>, { suits, token, size }: Page): readonly Activity[] | null {
  const found: Activity[] = []
  let reached = token === null
  for (const activity of all) {
    if (!reached) {
      reached = activity.id === token
      continue
    }
    if (!suits(activity)) continue
    found.push(activity)
    if (found.length === size) break
  }
  return reached ? found : null
}

function filterOf(body: Body, type: string): (activity: Activity) => boolean {
  const [after, until] = [timeOf(body, 'after'), timeOf(body, 'until')]
  return activity =>
    (type === '' || type === activity.type) && (after === null || activity.at > after) && (until === null || activity.at < until)
}

function timeOf(body: Body, name: string): Micros | null {
  const text = body.text(name)
  if (text === null) return null
  const at = instantOf(text)
  if (at === undefined) throw badParameter(`invalid ${name}: ${text.slice(0, 40)}`)
  return at
}

/** Newest first, over all accounts. */
function* activities({ brokerage, customerView }: ActivityDeps, login: string): Generator<Activity> {
  const { state, publisher } = brokerage
  const lists = customerView.accounts(login).map(({ id }) => state.engine.transactions(id))
  const all = lists.flat().sort((a, b) => numberOf(b) - numberOf(a))
  for (const transaction of all) {
    if (transaction.orderId !== null && publisher.isHidden(transaction.orderId)) continue
    const isTrade = TYPES[transaction.type] === 'FILL'
    // Alpaca charges apart what the sandbox takes with the trade.
    if (isTrade && !isZero(parseDecimal(transaction.fees, 'fees'))) yield feeOf(transaction)
    yield isTrade ? fillOf(transaction, brokerage, customerView) : otherOf(transaction)
  }
}

function numberOf({ transactionId }: TransactionView): number {
  return Number(transactionId.slice(transactionId.lastIndexOf('-') + 1))
}

/** It begins with the time in New York, and is not to be read as one. */
function idOf(at: Micros, uuid: string): string {
  const digits = newYorkOf(at).toPlainDateTime().toString({ fractionalSecondDigits: 3 }).replace(/\D/g, '')
  return `${digits}::${uuid}`
}

function fillOf(transaction: TransactionView, { state }: BrokerageView, customerView: CustomerView): Activity {
  const { at, orderId, execId, accountId, symbol, price, quantity, type } = transaction
  const id = idOf(at, executionIdOf(execId ?? transaction.transactionId))
  const order = orderId === null ? 'unknown' : state.engine.order(accountId, { orderId })
  const known = typeof order === 'object' ? sumsOf(order, execId, quantity ?? '0') : null
  const row = {
    id,
    activity_type: 'FILL',
    type: known?.leaves === '0' ? 'fill' : 'partial_fill',
    order_id: orderId === null ? null : customerView.idOf(orderId),
    order_status: known?.leaves === '0' ? 'filled' : 'partially_filled',
    symbol,
    side: type === 'BUY' ? 'buy' : 'sell',
    qty: quantity,
    price,
    cum_qty: known?.cumulative ?? quantity,
    leaves_qty: known?.leaves ?? '0',
    transaction_time: nanosOf(at)
  }
  return { id, type: 'FILL', at, row }
}

/** What was filled with this execution, and what was left then. */
function sumsOf(order: OrderView, execId: string | null, quantity: string): { readonly cumulative: string; readonly leaves: string } {
  const leg = order.legs?.find(({ fills }) => fills.some(fill => fill.execId === execId))
  const fills: readonly FillView[] = leg?.fills ?? order.fills
  let cumulative = ZERO
  for (const fill of fills) {
    cumulative = plus(cumulative, parseDecimal(fill.quantity, 'quantity'))
    if (fill.execId === execId) break
  }
  const last = fills.at(-1)?.execId === execId && order.remainingQuantity === '0'
  if (leg !== undefined || order.quantity === null) return { cumulative, leaves: last ? '0' : quantity }
  const own = minus(parseDecimal(order.quantity, 'quantity'), parseDecimal(order.carriedQuantity, 'carried quantity'))
  return { cumulative, leaves: minus(own, cumulative) }
}

function feeOf({ at, transactionId, fees, kind, symbol, date, currency }: TransactionView): Activity {
  const type = kind === 'CRYPTO' ? 'CFEE' : 'FEE'
  const id = idOf(at, uuidFor(`${transactionId} fee`))
  const row = { ...otherRow(id, type), date, created_at: nanosOf(at), net_amount: negated(parseDecimal(fees, 'fees')), symbol, currency }
  return { id, type, at, row }
}

function otherOf({ at, transactionId, type, date, amount, quantity, price, symbol, currency, description }: TransactionView): Activity {
  const activityType = TYPES[type]
  const id = idOf(at, executionIdOf(transactionId))
  const facts = { date, created_at: nanosOf(at), net_amount: amount, qty: quantity, per_share_amount: price, symbol, currency, description }
  return { id, type: activityType, at, row: { ...otherRow(id, activityType), ...facts } }
}

function otherRow(id: string, type: string): object {
  return { id, activity_type: type, activity_sub_type: '', qty: null, per_share_amount: null, cusip: '', status: 'executed', group_id: '' }
}
