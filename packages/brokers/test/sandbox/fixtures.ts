/** Captured answers of the sandbox, by name. */

import { readdirSync, readFileSync } from 'node:fs'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { HttpReply } from '../../src/kit/http.ts'

const FOLDER = new URL('../../src/sandbox/fixtures/', import.meta.url)

export interface Fixture {
  readonly origin: string
  readonly captured: string
  readonly status: number
  readonly body: { readonly [key: string]: unknown }
}

export function fixtureNames(): readonly string[] {
  return readdirSync(FOLDER).map(file => file.replace(/\.json$/, ''))
}

const read = new Set<string>()

export function fixture(name: string): Fixture {
  read.add(name)
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))
}

/** The parts of the sandbox that have separate tests, by the first word of a fixture's name; the others are `orders`. */
export type FixturePart = 'orders' | 'contract' | 'market'

export function unreadFixtures(part: FixturePart): readonly string[] {
  return fixtureNames().filter(name => partOf(name) === part && !read.has(name))
}

function partOf(name: string): FixturePart {
  const [group] = name.split('.')
  return group === 'contract' || group === 'market' ? group : 'orders'
}

/** A fixture as it would come over the wire. */
export function reply(name: string): HttpReply {
  const { status, body } = fixture(name)
  return { status, headers: {}, body: JSON.stringify(body) }
}

export const MARGIN = 'acc-61799f0d269fa78f'

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'SPY',
  instrument: 'STK',
  quantity: parseDecimal('5', 'quantity'),
  notional: null,
  limitPrice: parseDecimal('610.00', 'limit'),
  stopPrice: null,
  legs: null
}
