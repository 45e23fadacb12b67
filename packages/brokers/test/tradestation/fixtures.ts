/** Answers and lines of TradeStation, by name. */

import { readdirSync, readFileSync } from 'node:fs'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import type { HttpReply } from '../../src/kit/http.ts'
import { readObject } from '../../src/kit/json.ts'
import type { Wire } from '../../src/kit/parse.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'

const FOLDER = new URL('../../src/tradestation/fixtures/', import.meta.url)

export const ACCOUNT = '11111111'
export const NOW = parseTimestamp('2026-11-20T15:00:09Z', 'now')

export type Json = ReturnType<typeof JSON.parse>

export interface Fixture {
  readonly origin: string
  readonly written: string
  readonly status: number
  readonly body: Json
}

export function fixtureNames(): readonly string[] {
  return readdirSync(FOLDER).map(file => file.replace(/\.json$/, ''))
}

const read = new Set<string>()

/** Fixtures of a part that no test of this process has read. */
export function unread(isPart: (name: string) => boolean): readonly string[] {
  return fixtureNames().filter(name => isPart(name) && !read.has(name))
}

export function fixture(name: string): Fixture {
  read.add(name)
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))
}

/** A fixture as it would come over the wire. */
export function reply(name: string): HttpReply {
  const { status, body } = fixture(name)
  return { status, headers: {}, body: JSON.stringify(body) }
}

/** As the adapter reads it. */
export function wire(name: string): Wire {
  return readObject(reply(name).body)
}

export function unknownValueCounter() {
  const log = new MemoryLog()
  const meter = new MemoryMeter()
  return { unknownValues: new UnknownValueCounter({ broker: 'TRADESTATION', log, meter }), log, meter }
}

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'MSFT',
  instrument: 'STK',
  quantity: parseDecimal('10', 'quantity'),
  notional: null,
  limitPrice: parseDecimal('400', 'limit'),
  stopPrice: null,
  legs: null
}
