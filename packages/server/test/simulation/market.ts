// What happens at a broker by itself: executions, ends, and orders that came by another way.
import type { OrderReport } from '@trunkline/core/ports/broker'
import type { Chance } from './chance.ts'
import type { Login } from './scene.ts'
import type { Trace } from './trace.ts'

export const MARKET_ACTIONS = ['fill', 'begin', 'expire', 'cancelOutside', 'placeOutside'] as const
export type MarketAction = (typeof MARKET_ACTIONS)[number]

/** Gives the broker's account that it happened in; null when there was nothing for it to happen to. */
export function happen(action: MarketAction, { broker, accounts }: Login, chance: Chance, trace: Trace): string | null {
  const { ledger } = broker
  if (action === 'placeOutside') {
    const like = chance.oneOf(ledger.list())
    const account = chance.oneOf(accounts)
    if (like === undefined || account === undefined) return null
    const placed = ledger.addOutside(like, account.brokerAccountId)
    trace.note(`${broker.capabilities.id} has ${placed.brokerOrderId}, placed elsewhere`)
    return account.brokerAccountId
  }
  const report = chance.oneOf(ledger.list().filter(order => ledger.isLive(order)))
  if (report === undefined) return null
  trace.note(`${broker.capabilities.id} ${report.brokerOrderId}: ${action}`)
  MOVES[action](broker.ledger, report, chance)
  return report.brokerAccountId
}

type OrderLedger = Login['broker']['ledger']

const MOVES: Readonly<Record<Exclude<MarketAction, 'placeOutside'>, (ledger: OrderLedger, report: OrderReport, chance: Chance) => void>> = {
  fill(ledger, { brokerOrderId }, chance) {
    const left = Number(ledger.left(brokerOrderId))
    if (left > 0) ledger.fill(brokerOrderId, String(chance.whole(1, left)))
  },
  begin(ledger, { brokerOrderId, status }) {
    if (status === 'pending') ledger.move(brokerOrderId, 'working')
  },
  expire: (ledger, { brokerOrderId }) => void ledger.move(brokerOrderId, 'expired'),
  cancelOutside: (ledger, { brokerOrderId }) => void ledger.move(brokerOrderId, 'cancelled')
}

/** The broker ends what it began: nothing of its own is left undecided. */
export function decide({ broker: { ledger } }: Login): void {
  for (const { brokerOrderId, status } of ledger.list()) {
    if (status === 'pending_cancel') ledger.move(brokerOrderId, 'cancelled')
    if (status === 'pending') ledger.move(brokerOrderId, 'working')
  }
}
