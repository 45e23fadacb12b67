// What happens at a broker by itself: executions, ends, and orders that came by another way.
import type { OrderReport } from '@trunkline/core/ports/broker'
import type { Chance } from './chance.ts'
import type { Login } from './scene.ts'
import type { Trace } from './trace.ts'

export const MARKET_ACTS = ['fill', 'begin', 'expire', 'cancelOutside', 'placeOutside'] as const
export type MarketAct = (typeof MARKET_ACTS)[number]

/** Gives the broker's account that it happened in; null when there was nothing for it to happen to. */
export function happen(act: MarketAct, { broker, accounts }: Login, chance: Chance, trace: Trace): string | null {
  const { book } = broker
  if (act === 'placeOutside') {
    const like = chance.oneOf(book.list())
    const account = chance.oneOf(accounts)
    if (like === undefined || account === undefined) return null
    const placed = book.addOutside(like, account.brokerAccountId)
    trace.note(`${broker.capabilities.id} has ${placed.brokerOrderId}, placed elsewhere`)
    return account.brokerAccountId
  }
  const report = chance.oneOf(book.list().filter(order => book.isLive(order)))
  if (report === undefined) return null
  trace.note(`${broker.capabilities.id} ${report.brokerOrderId}: ${act}`)
  MOVES[act](broker.book, report, chance)
  return report.brokerAccountId
}

type Book = Login['broker']['book']

const MOVES: Readonly<Record<Exclude<MarketAct, 'placeOutside'>, (book: Book, report: OrderReport, chance: Chance) => void>> = {
  fill(book, { brokerOrderId }, chance) {
    const left = Number(book.left(brokerOrderId))
    if (left > 0) book.fill(brokerOrderId, String(chance.whole(1, left)))
  },
  begin(book, { brokerOrderId, status }) {
    if (status === 'pending') book.move(brokerOrderId, 'working')
  },
  expire: (book, { brokerOrderId }) => void book.move(brokerOrderId, 'expired'),
  cancelOutside: (book, { brokerOrderId }) => void book.move(brokerOrderId, 'cancelled')
}

/** The broker ends what it began: nothing of its own is left undecided. */
export function decide({ broker: { book } }: Login): void {
  for (const { brokerOrderId, status } of book.list()) {
    if (status === 'pending_cancel') book.move(brokerOrderId, 'cancelled')
    if (status === 'pending') book.move(brokerOrderId, 'working')
  }
}
