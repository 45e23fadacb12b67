/** Shares found by name or symbol, and those that can be sold short with ease. */

import type { Answer } from '../../../brokerage/api/response-writer.ts'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import type { Instrument } from '../../../market/types.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import { answer } from '../answers.ts'
import { fromTradier, toTradier } from '../symbols.ts'
import type { Branch } from '../tree.ts'
import { venueOf } from './venues.ts'

const FOUND_MAX = 100

/** By parts of the name, or the beginning of the symbol. */
export function search(brokerage: DialectBrokerage, { request }: Call): Answer {
  const words = (texts(request.query).q ?? '').trim().toLowerCase()
  return answer(
    request,
    securities(shares(brokerage).filter(({ symbol, name }) => name.toLowerCase().includes(words) || startsWith(symbol, words)))
  )
}

/** By the beginning of the symbol. */
export function lookup(brokerage: DialectBrokerage, { request }: Call): Answer {
  const begins = texts(request.query).q ?? ''
  return answer(request, securities(shares(brokerage).filter(({ symbol }) => startsWith(symbol, begins))))
}

export function easyToBorrow(brokerage: DialectBrokerage, { request }: Call): Answer {
  return answer(request, securities(shares(brokerage).filter(({ shortable }) => shortable)))
}

function shares({ market }: DialectBrokerage): readonly Instrument[] {
  return market.instruments.filter(({ kind }) => kind === 'STK')
}

function startsWith(symbol: string, words: string): boolean {
  return symbol.startsWith(fromTradier(words))
}

function securities(found: readonly Instrument[]): Branch {
  const shown = found.slice(0, FOUND_MAX).map(({ symbol, exchange, name }) => ({
    symbol: toTradier(symbol),
    exchange: venueOf(exchange),
    type: exchange === 'ARCA' ? 'etf' : 'stock',
    description: name
  }))
  return { securities: shown.length === 0 ? null : { security: shown } }
}
