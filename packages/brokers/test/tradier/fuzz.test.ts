/** Documented answers with values put in place of theirs, and cut anywhere. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import fc from 'fast-check'
import type { Wire } from '../../src/kit/parse.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { parseBalances, parseProfile } from '../../src/tradier/accounts.ts'
import { parseEvents, transactionsOf } from '../../src/tradier/history.ts'
import { parseChain } from '../../src/tradier/market/chain.ts'
import { dispatch, newSymbolSinks } from '../../src/tradier/market/items.ts'
import { instrumentOf, parseClock, parseExpirations, parseQuotes, quoteOf } from '../../src/tradier/market/quotes.ts'
import { parseOrder, parseOrderAnswer, parseOrders } from '../../src/tradier/orders.ts'
import { interpretCommand, interpretPlace } from '../../src/tradier/outcomes.ts'
import { parseHoldings, parseMarks, positionOf } from '../../src/tradier/positions.ts'
import { sessionOf } from '../../src/tradier/session.ts'
import { readAnswer } from '../../src/tradier/wire.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { fixtureNames, reply } from './fixtures.ts'

const ACCOUNT = '6YA00001'
const NOW = parseTimestamp('2026-11-20T16:00:00Z', 'now')

test('no answer makes a parser throw anything but Malformed', () => {
  const known = new UnknownValueCounter({ broker: 'TRADIER', log: new MemoryLog(), meter: new MemoryMeter() })
  const sinks = newSymbolSinks('SPY')
  const parsers: readonly ((wire: Wire) => unknown)[] = [
    parseProfile,
    wire => parseBalances(wire, ACCOUNT, NOW),
    wire => parseHoldings(wire).map(held => positionOf(held, ACCOUNT, undefined)),
    parseMarks,
    wire => parseOrders(wire).map(order => parseOrder(order, ACCOUNT)),
    wire => parseOrderAnswer(wire).map(order => parseOrder(order, ACCOUNT)),
    wire => transactionsOf(parseEvents(wire), known),
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
        wire = readAnswer(text)
      } catch (error) {
        assert.ok(error instanceof Malformed, String(error))
        return
      }
      for (const parse of parsers)
        try {
          parse(wire)
        } catch (error) {
          assert.ok(
            error instanceof Malformed || (error instanceof Error && error.name === 'StreamComplaint'),
            `${String(error)} for ${text}`
          )
        }
    }),
    { numRuns: 2_000 }
  )
})

test('whatever is answered to a command, it is an outcome or Malformed', () => {
  fc.assert(
    fc.property(damaged(fixtureNames().map(name => reply(name).body)), fc.integer({ min: 100, max: 599 }), (body, status) => {
      for (const interpret of [interpretPlace, (answered: ReturnType<typeof reply>) => interpretCommand(answered, '900417')])
        try {
          const outcome = interpret({ status, headers: {}, body })
          if (outcome.kind === 'refused') assert.ok(outcome.message.trim() !== '' && status < 500)
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
