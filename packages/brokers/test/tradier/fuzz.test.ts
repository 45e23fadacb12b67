/** Documented answers with values put in place of theirs, and cut anywhere. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import type { HttpReply } from '../../src/kit/http.ts'
import { readObject } from '../../src/kit/json.ts'
import type { Wire } from '../../src/kit/parse.ts'
import { StreamFault } from '../../src/kit/stream-fault.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { sessionOf } from '../../src/tradier/account-stream.ts'
import {
  holdingsOf,
  parseAccount,
  parseBalances,
  parseEvent,
  parseOrder,
  parseOrderAnswer,
  parseOrders,
  parsePrice,
  parseProfile,
  positionOf,
  transactionsOf
} from '../../src/tradier/codecs.ts'
import { instrumentOf, parseChain, parseClock, parseExpirations, parseQuotes, quoteOf } from '../../src/tradier/market.ts'
import { dispatch, newSymbolSinks } from '../../src/tradier/market-stream.ts'
import { interpretCommand, interpretPlace } from '../../src/tradier/orders.ts'
import { isTokenRefused, items } from '../../src/tradier/quirks.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { strictly } from '../support/readable.ts'
import { fixtureNames, reply, TICKET } from './fixtures.ts'

const ACCOUNT = '6YA00001'
const ORDER = { ...TICKET, brokerAccountId: ACCOUNT, brokerClOrdId: 'osk01H' }
const NOW = parseTimestamp('2026-11-20T16:00:00Z', 'now')

test('no answer makes a parser throw anything but Malformed', () => {
  const known = new UnknownValueCounter({ broker: 'TRADIER', log: new MemoryLog(), meter: new MemoryMeter() })
  const sinks = newSymbolSinks({ symbol: 'SPY' })
  const parsers: readonly ((wire: Wire) => unknown)[] = [
    wire => parseProfile(wire).map(parseAccount),
    wire => parseBalances(wire, ACCOUNT, NOW),
    wire => holdingsOf(items(wire, 'positions', 'position'), strictly).known.map(held => positionOf(held, ACCOUNT, null)),
    wire => items(wire, 'quotes', 'quote').map(parsePrice),
    wire => parseOrders(wire).map(order => parseOrder(order, ACCOUNT)),
    wire => parseOrderAnswer(wire).map(order => parseOrder(order, ACCOUNT)),
    wire => transactionsOf(items(wire, 'history', 'event').map(event => parseEvent(event, known))),
    parseChain,
    parseExpirations,
    parseClock,
    wire => [...parseQuotes(wire).values()].map(quoteOf),
    wire => instrumentOf(wire, 'exchange'),
    sessionOf,
    wire => dispatch(JSON.stringify(wire), new Map([['SPY', sinks]]))
  ]
  const seeds = fixtureNames().map(name => reply(name).body)
  fc.assert(
    fc.property(damaged(seeds), text => {
      let wire: Wire
      try {
        wire = readObject(text)
      } catch (error) {
        assert.ok(error instanceof Malformed, String(error))
        return
      }
      for (const parse of parsers)
        try {
          parse(wire)
        } catch (error) {
          assert.ok(error instanceof Malformed || error instanceof StreamFault, `${String(error)} for ${text}`)
        }
    }),
    { numRuns: 2_000 }
  )
})

test('whatever is answered to a command, it is an outcome or Malformed', () => {
  fc.assert(
    fc.property(damaged(fixtureNames().map(name => reply(name).body)), fc.integer({ min: 100, max: 599 }), (body, status) => {
      for (const interpret of [
        (answered: HttpReply) => interpretPlace(answered, ORDER, NOW),
        (answered: HttpReply) => interpretCommand(answered, '900417')
      ])
        try {
          const answered = { status, headers: {}, body }
          const outcome = interpret(answered)
          if (outcome.kind === 'refused') assert.ok(outcome.message.trim() !== '' && (status < 500 || isTokenRefused(answered)))
          if (outcome.kind === 'accepted') assert.ok(status === 200 || status === 201)
        } catch (error) {
          assert.ok(error instanceof Malformed, String(error))
        }
    }),
    { numRuns: 2_000 }
  )
})

/** Documented answers with some of their values replaced by any other, and texts cut anywhere. */
function damaged(seeds: readonly string[]): fc.Arbitrary<string> {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }).map(any => JSON.stringify(any)),
    fc.constantFrom('"null"', 'null', '-0.0', '1E5', '""', '{}', '[]', '9e999')
  )
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(fc.tuple(fc.nat(60), value), { maxLength: 3 }), fc.option(fc.nat(400)))
    .map(([seed, changes, cut]) => {
      let text = seed
      for (const [nth, put] of changes) {
        let seen = -1
        text = text.replace(/:("(?:[^"\\]|\\.)*"|-?[\d.]+|null|true|false)/g, whole => {
          seen += 1
          return seen === nth ? `:${put}` : whole
        })
      }
      return cut === null ? text : text.slice(0, cut)
    })
}
