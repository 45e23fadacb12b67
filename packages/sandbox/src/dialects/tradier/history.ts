/** An account's transactions, as the clearing firm reports them: by days, without orders. */

import type { Answer } from '../../brokerage/api/response-writer.ts'
import type { Account } from '../../brokerage/customers.ts'
import type { DialectBrokerage } from '../../brokerage/dialect.ts'
import type { TransactionView } from '../../engine/types.ts'
import type { Call } from '../frame/router.ts'
import { texts } from '../frame/sign-in.ts'
import { answer } from './answers.ts'
import { dayOf } from './days.ts'
import type { TradierOptions } from './options.ts'
import { isTrue, pageOf } from './parameters.ts'
import { fromTradier, isOption, toTradier } from './symbols.ts'
import { type Branch, plain } from './tree.ts'

export interface HistoryDeps {
  readonly brokerage: DialectBrokerage
  readonly options: TradierOptions
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
export function history({ brokerage, options }: HistoryDeps, account: Account, call: Call): Answer {
  const query = texts(call.request.query)
  const { start, end, type, symbol } = query
  const today = dayOf(brokerage.clock.now()).toString()
  const wanted = symbol === undefined ? null : fromTradier(symbol)
  const found =
    call.fault?.do === 'empty'
      ? []
      : brokerage.state.engine.transactions(account.id, {
          ...(start === undefined ? {} : { fromDate: start.slice(0, 10) }),
          ...(end === undefined ? {} : { toDate: end.slice(0, 10) })
        })
  const events = found
    .filter(transaction => !options.nightlyHistory || transaction.date < today)
    .filter(transaction => type === undefined || TYPE_OF[transaction.type] === type)
    .filter(transaction => wanted === null || concerns(transaction, wanted, isTrue(query.exactMatch)))
  const shown = pageOf(events, query, 25, call.fault)
  return answer(call.request, { history: shown.length === 0 ? 'null' : { event: shown.map(eventTree) } })
}

/** Options belong to their underlying unless the match is to be exact. */
function concerns({ symbol }: TransactionView, wanted: string, isExact: boolean): boolean {
  return symbol === wanted || (!isExact && symbol !== null && isOption(symbol) && symbol.startsWith(wanted.replace('.', '')))
}

function eventTree(transaction: TransactionView): Branch {
  const type = TYPE_OF[transaction.type]
  return { amount: plain(transaction.amount), date: `${transaction.date}T00:00:00Z`, type, [type]: detailOf(transaction, type) }
}

function detailOf({ type, description, price, quantity, symbol, fees }: TransactionView, kind: string): Branch {
  const signed = quantity !== null && type === 'SELL' ? `-${quantity}` : (quantity ?? '0')
  if (kind === 'trade') {
    const trade_type = symbol !== null && isOption(symbol) ? 'Option' : 'Equity'
    return {
      commission: plain(fees),
      description,
      price: plain(price),
      quantity: plain(signed),
      symbol: toTradier(symbol ?? ''),
      trade_type
    }
  }
  if (kind === 'option') return { option_type: type.toLowerCase(), description, quantity: plain(signed) }
  return { description, quantity: plain(signed), ...(symbol === null ? {} : { symbol: toTradier(symbol) }) }
}
