/** Dates at which options end, as they are asked for and shown. */

import type { BrokerageView } from '../frame/brokerage-view.ts'
import { bad } from './reading.ts'
import { dayOf } from './times.ts'

const MONTH_FIRST = /^(\d{2})-(\d{2})-(\d{4})$/
const YEAR_FIRST = /^(\d{4}-\d{2}-\d{2})(?:T.*)?$/

/** The next one where none is asked for. @throws Problem `bad_request` */
export function requestedExpiration({ market, clock }: BrokerageView, underlying: string, text: string | undefined): string {
  if (text === undefined || text === '')
    return market.expirations(underlying, clock.now())[0] ?? bad(`no options on ${underlying.slice(0, 40)}`)
  const [, month, day, year] = MONTH_FIRST.exec(text) ?? []
  if (year !== undefined) return `${year}-${month}-${day}`
  return YEAR_FIRST.exec(text)?.[1] ?? bad('expiration must be a date such as 12-18-2026')
}

export function expirationWire(expiration: string): object {
  return { Date: dayOf(expiration), Type: typeOf(expiration) }
}

function typeOf(expiration: string): 'Monthly' | 'Weekly' {
  const date = Temporal.PlainDate.from(expiration)
  // A Thursday stands for a Friday on which the exchange is closed.
  const friday = date.add({ days: 5 - date.dayOfWeek })
  return friday.day >= 15 && friday.day <= 21 ? 'Monthly' : 'Weekly'
}
