/** An account's transactions, as the clearing firm reports them: by days, without orders. */

import type { Account, Answer, TransactionView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Call } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { answer } from './answers.ts'
import { pageOf } from './parameters.ts'
import { isOption, toTradier } from './symbols.ts'
import { type Branch, listed, plain } from './tree.ts'

export interface HistoryDeps {
  readonly brokerage: BrokerageView
}

const TYPE_OF: Readonly<Record<TransactionView['type'], string>> = {
  BUY: 'trade',
  SELL: 'trade',
  DIVIDEND: 'dividend',
  INTEREST: 'interest',
  FEE: 'fee',
  DEPOSIT: 'ach',
  WITHDRAWAL: 'ach',
  TRANSFER: 'transfer',
  SPLIT: 'adjustment',
  EXERCISE: 'option',
  ASSIGNMENT: 'option',
  EXPIRATION: 'option',
  ADJUSTMENT: 'adjustment',
  OTHER: 'journal'
}

/** Newest first. */
export function history({ brokerage }: HistoryDeps, account: Account, call: Call): Answer {
  const query = texts(call.request.query)
  const { start, end } = query
  const days = {
    ...(start === undefined ? {} : { fromDate: start.slice(0, 10) }),
    ...(end === undefined ? {} : { toDate: end.slice(0, 10) })
  }
  const found = call.fault?.do === 'empty' ? [] : brokerage.state.engine.transactions(account.id, days)
  return answer(call.request, listed('history', 'event', pageOf(found, query, 25, call.fault).map(eventTree)))
}

function eventTree(transaction: TransactionView): Branch {
  const type = TYPE_OF[transaction.type]
  return { amount: plain(transaction.amount), date: `${transaction.date}T00:00:00Z`, type, [type]: detailOf(transaction, type) }
}

function detailOf({ type, description, price, quantity, symbol, fees }: TransactionView, kind: string): Branch {
  const signed = plain(quantity !== null && type === 'SELL' ? `-${quantity}` : (quantity ?? '0'))
  const of = symbol === null ? {} : { symbol: toTradier(symbol) }
  if (kind === 'option') return { option_type: type.toLowerCase(), description, quantity: signed }
  if (kind !== 'trade') return { description, quantity: signed, ...of }
  const trade_type = symbol !== null && isOption(symbol) ? 'Option' : 'Equity'
  return { commission: plain(fees), description, price: plain(price), quantity: signed, ...of, trade_type }
}
