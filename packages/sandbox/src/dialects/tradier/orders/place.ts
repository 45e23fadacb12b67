/** Taking orders in: the form, the side, the hour, then the house's desk. */

import type { OrderView } from '../../../engine/types.ts'
import type { Answer } from '../../../house/api/outlet.ts'
import type { PackageTicket, Ticket } from '../../../house/desk.ts'
import type { DialectHouse } from '../../../house/dialect.ts'
import type { Fault } from '../../../house/faults.ts'
import { uuidOf } from '../../../house/order-ids.ts'
import type { Account } from '../../../house/people.ts'
import { Problem } from '../../../house/problems.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import type { Accounts } from '../accounts.ts'
import { answer, errorsAnswer } from '../answers.ts'
import { bad } from '../parameters.ts'
import { idOf } from './desk-view.ts'
import { type PackageForm, readForm, type SingleForm } from './form.ts'
import type { Notes } from './notes.ts'
import { previewTree } from './preview.ts'
import { errorsOf, reasonOf } from './reasons.ts'
import { sideTrouble } from './sides.ts'

export interface PlaceDeps {
  readonly house: DialectHouse
  readonly accounts: Accounts
  readonly notes: Notes
}

/** Longer tags, and those used before, are not what the books know an order by. */
const CLIENT_ORDER_ID_MAX = 64
/** The application that orders come from. */
const PARTNER = uuidOf('partner-tradier-1')

export async function placeOrder(deps: PlaceDeps, call: Call): Promise<Answer> {
  const { house, accounts } = deps
  const form = texts(call.request.body)
  if (form.tag !== undefined) house.counters.receive(form.tag)
  const account = accounts.asked(call)
  const wanted = readForm(form)
  await house.contracts.bring(symbolsOf(wanted))
  mustBeInTime(house, wanted)
  const trouble = wanted.class === 'multileg' ? null : sideTrouble(wanted, standOf(house, account, wanted.symbol))
  if (trouble !== null) return errorsAnswer(call.request, trouble)
  // With the fault `place` the broker places what it was only asked about.
  if (wanted.isPreview && call.fault?.do !== 'place') return preview(deps, call, account, wanted)
  return submit(deps, call, account, wanted)
}

function submit({ house, notes }: PlaceDeps, call: Call, account: Account, wanted: SingleForm | PackageForm): Answer {
  const clientOrderId = clientOrderIdFor(house, account.id, wanted.tag)
  if (isWorthANote(wanted, clientOrderId))
    notes.add(clientOrderId, {
      tag: wanted.tag,
      side: wanted.class === 'equity' ? wanted.equitySide : null,
      duration: wanted.duration
    })
  const taken = take(house, ticketOf(account.id, wanted, clientOrderId), call.fault)
  if ('errors' in taken) return errorsAnswer(call.request, taken.errors)
  return answer(call.request, { order: { id: idOf(taken.order.orderId), status: 'ok', partner_id: PARTNER } })
}

/** What the house turns down at once is refused; what it turns down for other reasons has been taken, and shows what became of it. */
function take(
  { desk, books }: DialectHouse,
  ticket: (Ticket | PackageTicket) & { readonly clientOrderId: string },
  fault: Fault | undefined
): { readonly order: OrderView } | { readonly errors: readonly string[] } {
  try {
    return { order: desk.submit(ticket, fault) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const order = reasonOf(error.code).isAtOnce ? 'unknown' : books.order([ticket.accountId], { clientOrderId: ticket.clientOrderId })
    return typeof order === 'object' ? { order } : { errors: errorsOf(error.code, error.message) }
  }
}

/** The tag, unless another order of the account has it: Tradier does not care, the house does. */
function clientOrderIdFor({ books, newId }: DialectHouse, accountId: string, tag: string | null): string {
  const isFree = tag !== null && tag.length <= CLIENT_ORDER_ID_MAX && books.order([accountId], { clientOrderId: tag }) === 'unknown'
  return isFree ? tag : `house-${newId()}`
}

function isWorthANote(wanted: SingleForm | PackageForm, clientOrderId: string): boolean {
  const hasOwnSide = wanted.class === 'equity' && wanted.equitySide !== 'buy' && wanted.equitySide !== 'sell'
  return hasOwnSide || (wanted.tag !== null && wanted.tag !== clientOrderId) || wanted.duration === 'pre' || wanted.duration === 'post'
}

function ticketOf(accountId: string, wanted: SingleForm | PackageForm, clientOrderId: string) {
  const { timeInForce, limitPrice } = wanted
  const common = { accountId, clientOrderId, timeInForce, limitPrice, quantity: String(wanted.quantity) }
  if (wanted.class === 'multileg') {
    const orderType = wanted.packageType === 'market' ? 'MKT' : 'LMT'
    return { ...common, orderType, side: wanted.packageSide, legs: wanted.legs } as const
  }
  const { symbol, side, orderType, stopPrice } = wanted
  return { ...common, orderType, side, symbol, stopPrice, notional: null }
}

/** Orders for the sessions before and after are taken while these go on, and always in a market that never closes. */
function mustBeInTime({ market, clock, contracts }: DialectHouse, wanted: SingleForm | PackageForm): void {
  const { duration } = wanted
  const [symbol = ''] = symbolsOf(wanted)
  if ((duration !== 'pre' && duration !== 'post') || contracts.find(symbol)?.hours === 'always') return
  const { phase } = market.phaseAt('us-equity', clock.now())
  if (phase !== duration) bad('duration', `${duration} market no longer available`)
}

function symbolsOf(wanted: SingleForm | PackageForm): readonly string[] {
  return wanted.class === 'multileg' ? wanted.legs.map(({ symbol }) => symbol) : [wanted.symbol]
}

function standOf({ books }: DialectHouse, account: Account, symbol: string) {
  const { engine } = books
  return {
    kind: account.kind,
    position: engine.position(account.id, symbol),
    working: engine.orders(account.id, { live: true, symbols: [symbol] }).filter(({ legs }) => legs === null),
    last: engine.market(symbol)?.mark ?? null
  }
}

/** Refused for what the order would be refused for. */
function preview({ house }: PlaceDeps, call: Call, account: Account, wanted: SingleForm | PackageForm): Answer {
  const { engine } = house.books
  try {
    house.desk.preview(ticketOf(account.id, wanted, ''))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return errorsAnswer(call.request, errorsOf(error.code, error.message))
  }
  return answer(
    call.request,
    previewTree(wanted, symbol => engine.market(symbol), house.clock.now())
  )
}
