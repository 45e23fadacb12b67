/** Options: expirations, strikes, chains, and what contracts there are. */

import type { Answer } from '../../../brokerage/api/response-writer.ts'
import type { DialectBrokerage } from '../../../brokerage/dialect.ts'
import type { Instrument } from '../../../market/types.ts'
import type { Call } from '../../frame/router.ts'
import { texts } from '../../frame/sign-in.ts'
import { answer } from '../answers.ts'
import { bad, isTrue, required } from '../parameters.ts'
import { fromTradier } from '../symbols.ts'
import { plain, type Tree } from '../tree.ts'
import { type QuotesDeps, quoteTree } from './quotes.ts'
import { CONTRACT_SIZE, expirationType, rootOf } from './terms.ts'

const FLAGS = ['includeAllRoots', 'strikes', 'contractSize', 'expirationType']
/** Expirations whose contracts are named in one answer. */
const LOOKUP_EXPIRATIONS_MAX = 60

export function expirations({ brokerage }: QuotesDeps, call: Call): Answer {
  const query = texts(call.request.query)
  const underlying = fromTradier(required(query, 'symbol'))
  const dates = call.fault?.do === 'empty' ? [] : brokerage.market.expirations(underlying, brokerage.clock.now())
  if (dates.length === 0) return answer(call.request, { expirations: null })
  const wanted = FLAGS.filter(flag => isTrue(query[flag]))
  const isPlain = wanted.every(flag => flag === 'includeAllRoots')
  if (isPlain) return answer(call.request, { expirations: { date: dates } })
  const shown = dates.map(date => ({
    date,
    contract_size: wanted.includes('contractSize') ? CONTRACT_SIZE : undefined,
    expiration_type: wanted.includes('expirationType') ? expirationType(date) : undefined,
    strikes: wanted.includes('strikes') ? { strike: strikesOf(brokerage, underlying, date) } : undefined
  }))
  return answer(call.request, { expirations: { expiration: shown } })
}

export function strikes({ brokerage }: QuotesDeps, call: Call): Answer {
  const query = texts(call.request.query)
  const found = strikesOf(brokerage, fromTradier(required(query, 'symbol')), dateOf(query))
  return answer(call.request, { strikes: found.length === 0 ? null : { strike: found } })
}

export async function chain(deps: QuotesDeps, call: Call): Promise<Answer> {
  const { brokerage } = deps
  const query = texts(call.request.query)
  const underlying = fromTradier(required(query, 'symbol'))
  const found = call.fault?.do === 'empty' ? [] : brokerage.market.chain(underlying, dateOf(query), brokerage.clock.now())
  if (found.length === 0) return answer(call.request, { options: null })
  await brokerage.contracts.bring(found.map(({ symbol }) => symbol))
  const rows = await Promise.all(found.map(contract => quoteTree(deps, contract, isTrue(query.greeks))))
  return answer(call.request, { options: { option: rows } })
}

/** Every contract of an underlying, by root. */
export function lookUp({ brokerage }: QuotesDeps, call: Call): Answer {
  const underlying = fromTradier(required(texts(call.request.query), 'underlying'))
  const now = brokerage.clock.now()
  const found = brokerage.market
    .expirations(underlying, now)
    .slice(0, LOOKUP_EXPIRATIONS_MAX)
    .flatMap(expiration => brokerage.market.chain(underlying, expiration, now))
  const roots = Map.groupBy(found, ({ symbol }) => rootOf(symbol))
  const symbols = [...roots].map(([rootSymbol, contracts]) => ({ rootSymbol, options: contracts.map(({ symbol }) => symbol) }))
  return answer(call.request, { symbols: symbols.length === 0 ? null : symbols })
}

function strikesOf({ market, clock }: DialectBrokerage, underlying: string, expiration: string): readonly Tree[] {
  const found = new Set(market.chain(underlying, expiration, clock.now()).map(strikeOf))
  return [...found].map(strike => plain(strike))
}

function strikeOf({ option }: Instrument): string {
  return option?.strike ?? '0'
}

function dateOf({ expiration }: Readonly<Record<string, string>>): string {
  if (expiration !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(expiration)) return expiration
  return bad('expiration', 'must be a date such as 2026-12-18')
}
