/** Answers and messages of Alpaca, by name. */

import { readdirSync, readFileSync } from 'node:fs'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { HttpReply } from '../../src/kit/http.ts'
import { object, type Wire } from '../../src/kit/parse.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'

const FOLDER = new URL('../../src/alpaca/fixtures/', import.meta.url)

export const ACCOUNT = '7c0e7b8e-5f0a-4f0e-9d6e-3b1f8a2c4d10'

export type Json = ReturnType<typeof JSON.parse>

interface Fixture {
  readonly origin: string
  readonly written: string
  readonly status: number
  readonly body: Json
}

export function fixtureNames(): readonly string[] {
  return readdirSync(FOLDER).map(file => file.replace(/\.json$/, ''))
}

const read = new Set<string>()

export function unread(isPart: (name: string) => boolean): readonly string[] {
  return fixtureNames().filter(name => isPart(name) && !read.has(name))
}

function textOf(name: string): string {
  read.add(name)
  return readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')
}

export function fixture(name: string): Fixture {
  return JSON.parse(textOf(name))
}

/** The body as it was written: reading and writing it again would round its numbers. */
export function bodyText(name: string): string {
  const text = textOf(name)
  return text.slice(text.indexOf('"body":') + '"body":'.length, text.lastIndexOf('}')).trim()
}

/** A fixture as it would come over the wire. */
export function reply(name: string): HttpReply {
  return { status: fixture(name).status, headers: {}, body: bodyText(name) }
}

export function wire(name: string): Wire {
  return object(fixture(name).body, name)
}

export function unknownValueCounter(): {
  readonly unknownValues: UnknownValueCounter
  readonly log: MemoryLog
  readonly meter: MemoryMeter
} {
  const [log, meter] = [new MemoryLog(), new MemoryMeter()]
  return { unknownValues: new UnknownValueCounter({ broker: 'ALPACA', log, meter }), log, meter }
}

export const dec = (text: string) => parseDecimal(text, 'a test')

export const TICKET: OrderTicket = {
  side: 'BUY',
  type: 'LMT',
  tif: 'DAY',
  symbol: 'AAPL',
  instrument: 'STK',
  quantity: dec('2'),
  notional: null,
  limitPrice: dec('150.25'),
  stopPrice: null,
  legs: null
}

export const SPREAD: OrderTicket = {
  ...TICKET,
  side: 'SELL',
  symbol: null,
  instrument: 'MLEG_OPT',
  quantity: dec('1'),
  limitPrice: dec('0.85'),
  legs: [
    { symbol: 'AAPL261218C00250000', side: 'SELL_TO_OPEN', ratio: dec('1'), fills: [] },
    { symbol: 'AAPL261218C00260000', side: 'BUY_TO_OPEN', ratio: dec('1'), fills: [] }
  ]
}
