/** Changing and cancelling. A change is a new order in the sandbox and the same one at Tradier. */

import { type Answer, type Fault, isLive, type OrderView, Problem, paramOf, valuesOf } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import type { Accounts } from '../accounts.ts'
import { answer, errorsAnswer, textAnswer } from '../answers.ts'
import { bad, type Form, member } from '../parameters.ts'
import { MULTI_LEG_TYPES, multiLegTypeOf, netPrice } from './enums.ts'
import { priceOf } from './form.ts'
import { errorsOf } from './reasons.ts'
import type { Known, TradierOrders } from './tradier-orders.ts'

export interface ChangeDeps {
  readonly brokerage: BrokerageView
  readonly accounts: Accounts
  readonly view: TradierOrders
}

export function changeOrder(deps: ChangeDeps, call: Call): Answer {
  return handle(deps, call, known => {
    const { last } = known.chain
    const wanted = readChange(texts(call.request.body), known)
    const isSame = wanted.limitPrice === last.limitPrice && wanted.stopPrice === last.stopPrice
    if (!isSame) amend(deps, last, wanted, call.fault)
  })
}

export function cancelOrder(deps: ChangeDeps, call: Call): Answer {
  return handle(deps, call, ({ chain }) => void deps.brokerage.orderService.cancel(chain.last, call.fault))
}

function handle({ accounts, view }: ChangeDeps, call: Call, work: (known: Known) => void): Answer {
  const account = accounts.requested(call)
  const known = view.requested(account.id, paramOf(call.request, 'id'))
  if (!isLive(known.chain.last)) return finalized(known)
  try {
    work(known)
  } catch (error) {
    if (!(error instanceof Problem) || error.code === 'bad_request') throw error
    if (error.code === 'order_not_open') return finalized(view.requested(account.id, known.id.text))
    if (error.code === 'order_busy') return textAnswer(400, 'order is being changed or canceled')
    return errorsAnswer(call.request, errorsOf(error.code, error.message))
  }
  return answer(call.request, { order: { id: known.id, status: 'ok' } })
}

function finalized({ status }: Known): Answer {
  return textAnswer(400, `order already in finalized state: ${status}`)
}

interface Wanted {
  readonly limitPrice: string | null
  readonly stopPrice: string | null
}

function amend({ brokerage }: ChangeDeps, order: OrderView, wanted: Wanted, fault: Fault | undefined): void {
  brokerage.orderService.amend(order, { ...wanted, clientOrderId: null, quantity: null, notional: null }, fault)
}

/** The prices it will have. @throws Problem for what cannot be changed */
function readChange(form: Form, { chain, type, note }: Known): Wanted {
  const { last } = chain
  for (const name of ['quantity', 'symbol', 'side']) if (form[name] !== undefined) bad(name, 'cannot be changed')
  if (form.duration !== undefined && form.duration !== (note.duration ?? (last.timeInForce === 'GTC' ? 'gtc' : 'day')))
    bad('duration', 'cannot be changed here')
  if (last.legs !== null) return { limitPrice: changedNetPrice(form, last), stopPrice: null }
  if (form.type !== undefined && form.type !== type) bad('type', 'cannot be changed here')
  return {
    limitPrice: last.limitPrice === null || form.price === undefined ? last.limitPrice : priceOf(form, 'price'),
    stopPrice: last.stopPrice === null || form.stop === undefined ? last.stopPrice : priceOf(form, 'stop')
  }
}

function changedNetPrice(form: Form, { limitPrice, side }: OrderView): string | null {
  if (limitPrice === null || (form.price === undefined && form.type === undefined)) return limitPrice
  const type = form.type === undefined ? multiLegTypeOf(side, limitPrice) : member(form, 'type', valuesOf(MULTI_LEG_TYPES))
  if (type === 'market') bad('type', 'cannot be changed here')
  return netPrice(type, type === 'even' ? '0' : priceOf(form, 'price'), side === 'BUY' ? 'BUY' : 'SELL')
}
