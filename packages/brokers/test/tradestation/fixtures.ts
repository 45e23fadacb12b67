/** Answers and lines of TradeStation, by name. */

import assert from 'node:assert/strict'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderTicket } from '@trunkline/core/domain/order'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import type { HttpReply } from '../../src/kit/http.ts'
import { readObject } from '../../src/kit/json.ts'
import type { Wire } from '../../src/kit/parse.ts'
import { Fixtures, type Json, unknownValuesOf } from '../support/fixtures.ts'

export type { Json } from '../support/fixtures.ts'

export const ACCOUNT = '11111111'
export const NOW = parseTimestamp('2026-11-20T15:00:09Z', 'now')

const FIXTURES = new Fixtures('tradestation')
export const unread = (isPart: (name: string) => boolean): readonly string[] => FIXTURES.unread(isPart)
export const fixture = (name: string): Json => FIXTURES.read(name)
export const reply = (name: string): HttpReply => FIXTURES.reply(name)
/** As the adapter reads it. */
export const wire = (name: string): Wire => readObject(reply(name).body)
export const unknownValueCounter = () => unknownValuesOf('TRADESTATION')

/** An order of the broker's, of ten shares at a limit. */
export function orderOf(id: string, status: string, { leg = {}, ...more }: Json = {}): Json {
  return {
    ...{ AccountID: ACCOUNT, OrderID: id, Status: status, StatusDescription: 'words' },
    ...{ OrderType: 'Limit', Duration: 'DAY', LimitPrice: '400', OpenedDateTime: '2026-11-20T15:00:00Z' },
    Legs: [{ ...LEG, ...leg }],
    ...more
  }
}

export const LEG = {
  ...{ AssetType: 'STOCK', Symbol: 'MSFT', BuyOrSell: 'Buy', OpenOrClose: 'Open' },
  ...{ QuantityOrdered: '10', ExecQuantity: '0', ExecutionPrice: '400' }
} as const

/** What closes an order. */
export const CLOSED = { ClosedDateTime: '2026-11-20T15:01:00Z' }

export function positionOf(id: string, symbol: string, quantity: string, more: Json = {}): Json {
  return { AccountID: ACCOUNT, AssetType: 'STOCK', Symbol: symbol, Quantity: quantity, PositionID: id, LongShort: 'Long', ...more }
}

const JUNK = ['', '-0', '1e5', '00', '-1', '9'.repeat(39), '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z', null]

/** Whatever is sent, a reader throws nothing but Malformed. `isPart`: the fixtures whose objects are changed. */
export function assertOnlyMalformed(readers: readonly ((value: Wire) => unknown)[], isPart: (name: string) => boolean): void {
  const onlyMalformed = (value: Wire) => {
    for (const reader of readers)
      try {
        reader(value)
      } catch (error) {
        assert.ok(error instanceof Malformed, String(error))
      }
  }
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), onlyMalformed))
  const bodies = FIXTURES.names.filter(isPart).flatMap(name => objectsIn(fixture(name).body))
  const changes = fc.array(fc.tuple(fc.nat(), fc.oneof(fc.jsonValue(), fc.constantFrom(...JUNK))), { maxLength: 4 })
  const changed = (body: Wire, values: readonly (readonly [number, unknown])[]) => {
    const keys = Object.keys(body)
    onlyMalformed({ ...body, ...Object.fromEntries(values.map(([at, value]) => [keys[at % keys.length] ?? 'x', value])) })
  }
  fc.assert(fc.property(fc.constantFrom(...bodies), changes, changed), { numRuns: 2_000 })
}

function objectsIn(value: unknown): readonly Wire[] {
  if (Array.isArray(value)) return value.flatMap(objectsIn)
  if (typeof value !== 'object' || value === null) return []
  return [{ ...value }, ...Object.values(value).flatMap(objectsIn)]
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
