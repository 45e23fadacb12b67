/** Placing orders: the form, the side, the hour, then the order service. */

import { type Account, type Answer, type Fault, type MultiLegTicket, type OrderView, Problem, type Ticket } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import { uuidOf } from '../../frame/order-ids.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import type { Accounts } from '../accounts.ts'
import { answer, errorsAnswer } from '../answers.ts'
import { bad } from '../parameters.ts'
import { type MultiLegForm, readForm, type SingleForm } from './form.ts'
import type { Notes } from './notes.ts'
import { previewTree } from './preview.ts'
import { errorsOf, reasonOf } from './reasons.ts'
import { sideProblem } from './sides.ts'
import { idOf } from './tradier-orders.ts'

export interface PlaceOrderDeps {
  readonly brokerage: BrokerageView
  readonly accounts: Accounts
  readonly notes: Notes
}

/** Longer tags, and those used before, are no client order ids of the state. */
const CLIENT_ORDER_ID_MAX = 64
/** The application that orders come from. */
const PARTNER = uuidOf('partner-tradier-1')

export async function placeOrder(deps: PlaceOrderDeps, call: Call): Promise<Answer> {
  const { brokerage, accounts } = deps
  const form = texts(call.request.body)
  if (form.tag !== undefined) brokerage.counters.receive(form.tag)
  const account = accounts.requested(call)
  const wanted = readForm(form)
  await brokerage.contracts.bring(symbolsOf(wanted))
  mustBeInTime(brokerage, wanted)
  const problem = wanted.class === 'multileg' ? null : sideProblem(wanted, standOf(brokerage, account, wanted.symbol))
  if (problem !== null) return errorsAnswer(call.request, problem)
  // With the fault `place` a preview places the order.
  if (wanted.isPreview && call.fault?.do !== 'place') return preview(deps, call, account, wanted)
  return submit(deps, call, account, wanted)
}

function submit({ brokerage, notes }: PlaceOrderDeps, call: Call, account: Account, wanted: SingleForm | MultiLegForm): Answer {
  const clientOrderId = clientOrderIdFor(brokerage, account.id, wanted.tag)
  if (isWorthANote(wanted, clientOrderId))
    notes.add(clientOrderId, {
      tag: wanted.tag,
      side: wanted.class === 'equity' ? wanted.equitySide : null,
      duration: wanted.duration
    })
  const taken = take(brokerage, ticketOf(account.id, wanted, clientOrderId), call.fault)
  if ('errors' in taken) return errorsAnswer(call.request, taken.errors)
  return answer(call.request, { order: { id: idOf(taken.order.orderId), status: 'ok', partner_id: PARTNER } })
}

/** What the sandbox turns down at once is refused; what it turns down for other reasons has been taken, and shows what became of it. */
function take(
  { orderService, state }: BrokerageView,
  ticket: (Ticket | MultiLegTicket) & { readonly clientOrderId: string },
  fault: Fault | undefined
): { readonly order: OrderView } | { readonly errors: readonly string[] } {
  try {
    return { order: orderService.submit(ticket, fault) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const order = reasonOf(error.code).isAtOnce ? 'unknown' : state.order([ticket.accountId], { clientOrderId: ticket.clientOrderId })
    return typeof order === 'object' ? { order } : { errors: errorsOf(error.code, error.message) }
  }
}

/** The tag, unless another order of the account has it: Tradier does not care, the sandbox does. */
function clientOrderIdFor({ state, newId }: BrokerageView, accountId: string, tag: string | null): string {
  const isFree = tag !== null && tag.length <= CLIENT_ORDER_ID_MAX && state.order([accountId], { clientOrderId: tag }) === 'unknown'
  return isFree ? tag : `sandbox-${newId()}`
}

function isWorthANote(wanted: SingleForm | MultiLegForm, clientOrderId: string): boolean {
  const hasOwnSide = wanted.class === 'equity' && wanted.equitySide !== 'buy' && wanted.equitySide !== 'sell'
  return hasOwnSide || (wanted.tag !== null && wanted.tag !== clientOrderId) || wanted.duration === 'pre' || wanted.duration === 'post'
}

function ticketOf(accountId: string, wanted: SingleForm | MultiLegForm, clientOrderId: string) {
  const { timeInForce, limitPrice } = wanted
  const common = { accountId, clientOrderId, timeInForce, limitPrice, quantity: String(wanted.quantity) }
  if (wanted.class === 'multileg') {
    const orderType = wanted.multiLegType === 'market' ? 'MKT' : 'LMT'
    return { ...common, orderType, side: wanted.multiLegSide, legs: wanted.legs } as const
  }
  const { symbol, side, orderType, stopPrice } = wanted
  return { ...common, orderType, side, symbol, stopPrice, notional: null }
}

/** Orders for the sessions before and after are taken while these go on, and always in a market that never closes. */
function mustBeInTime({ market, clock, contracts }: BrokerageView, wanted: SingleForm | MultiLegForm): void {
  const { duration } = wanted
  const [symbol = ''] = symbolsOf(wanted)
  if ((duration !== 'pre' && duration !== 'post') || contracts.find(symbol)?.hours === 'always') return
  const { phase } = market.phaseAt('us-equity', clock.now())
  if (phase !== duration) bad('duration', `${duration} market no longer available`)
}

function symbolsOf(wanted: SingleForm | MultiLegForm): readonly string[] {
  return wanted.class === 'multileg' ? wanted.legs.map(({ symbol }) => symbol) : [wanted.symbol]
}

function standOf({ state }: BrokerageView, account: Account, symbol: string) {
  const { engine } = state
  return {
    kind: account.kind,
    position: engine.position(account.id, symbol),
    working: engine.orders(account.id, { live: true, symbols: [symbol] }).filter(({ legs }) => legs === null),
    last: engine.market(symbol)?.mark ?? null
  }
}

/** Refused for what the order would be refused for. */
function preview({ brokerage }: PlaceOrderDeps, call: Call, account: Account, wanted: SingleForm | MultiLegForm): Answer {
  const { engine } = brokerage.state
  try {
    brokerage.orderService.preview(ticketOf(account.id, wanted, ''))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return errorsAnswer(call.request, errorsOf(error.code, error.message))
  }
  return answer(
    call.request,
    previewTree(wanted, symbol => engine.market(symbol))
  )
}
