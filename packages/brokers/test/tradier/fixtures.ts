/** Answers of Tradier's as its reference describes them, by name. */

import { readdirSync, readFileSync } from 'node:fs'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { HttpReply } from '../../src/kit/http.ts'
import { readObject } from '../../src/kit/json.ts'
import type { Wire } from '../../src/kit/parse.ts'

const FOLDER = new URL('../../src/tradier/fixtures/', import.meta.url)
const MARKET = /^(?:bars|chain|clock|expirations|market|quotes)\b/
const read = new Set<string>()

export function fixtureNames(): readonly string[] {
  return readdirSync(FOLDER).map(file => file.replace(/\.json$/, ''))
}

/** Of previews, of the market or of all else: they are read by tests apart. */
export function unreadFixtures(part: 'account' | 'market' | 'preview'): readonly string[] {
  return fixtureNames().filter(name => partOf(name) === part && !read.has(name))
}

function partOf(name: string): 'account' | 'market' | 'preview' {
  return name.startsWith('preview.') ? 'preview' : MARKET.test(name) ? 'market' : 'account'
}

/** A fixture as it comes over the wire. */
export function reply(name: string): HttpReply {
  read.add(name)
  const { status, text }: { status: number; text: string } = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))
  return { status, headers: {}, body: text }
}

export function answer(name: string): Wire {
  return readObject(reply(name).body)
}

export const decimal = (text: string) => parseDecimal(text, 'test')

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'AAPL',
  instrument: 'STK',
  quantity: decimal('40'),
  notional: null,
  limitPrice: decimal('220.00'),
  stopPrice: null,
  legs: null
}

export const MULTI_LEG: OrderTicket = {
  ...TICKET,
  symbol: null,
  instrument: 'MLEG_OPT',
  quantity: decimal('2'),
  limitPrice: decimal('1.20'),
  legs: [
    { symbol: 'SPY261218C00600000', side: 'BUY_TO_OPEN', ratio: decimal('1'), fills: [] },
    { symbol: 'SPY261218C00610000', side: 'SELL_TO_OPEN', ratio: decimal('2'), fills: [] }
  ]
}
