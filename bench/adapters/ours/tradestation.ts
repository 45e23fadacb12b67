import assert from 'node:assert/strict'
import { PartialQuote } from '../../../packages/brokers/src/kit/partial-quotes.ts'
import { RecordLists } from '../../../packages/brokers/src/kit/record-lists.ts'
import { AccountStream } from '../../../packages/brokers/src/kit/runtime/account-stream.ts'
import { KnownAccounts } from '../../../packages/brokers/src/kit/runtime/known-accounts.ts'
import { OrderTracker } from '../../../packages/brokers/src/kit/runtime/order-tracker.ts'
import { UnknownValueCounter } from '../../../packages/brokers/src/kit/unknown-values.ts'
import { accountStreams } from '../../../packages/brokers/src/tradestation/account-stream.ts'
import { QUOTE_FIELDS, readFrame } from '../../../packages/brokers/src/tradestation/market-stream.ts'
import type { Readings } from '../contender.ts'
import { amount, COUNT, digits, fixtureOf, type KindTexts, variations } from '../messages.ts'
import { orders } from './counter.ts'
import { never, STILL, still } from './still.ts'

const ACCOUNT = '11111111'
const TIME = Date.UTC(2026, 10, 20, 15)

/** A line of the order stream; lines of the quote stream with a new bid and with a trade. */
export function tradestationMessages(): KindTexts {
  const { Orders: list } = Object(Object(fixtureOf('tradestation', 'orders')).body)
  const [, bid, last] = Object(Object(fixtureOf('tradestation', 'market.quotes')).body)
  return {
    // Each order twice, with different limits: a line without changes would be skipped.
    order: variations(list[1], (order, number) => {
      Object.assign(order, { OrderID: digits(9, 900_000_000 + (number >> 1)), LimitPrice: number % 2 === 0 ? '401.50' : '401.75' })
    }),
    trade: variations(last, (line, number) => {
      Object.assign(line, {
        Symbol: 'MSFT',
        Last: amount(400, number),
        TradeTime: new Date(TIME + 250 * number).toISOString(),
        Volume: String(1_020 + 20 * number)
      })
    }),
    quote: variations(bid, (line, number) => {
      Object.assign(line, { Bid: amount(400, number), BidSize: String(100 + (number % 9)) })
    })
  }
}

export async function tradestationReadings(): Promise<Readings> {
  const account = { brokerAccountId: ACCOUNT, accountNumber: ACCOUNT, institutionName: '', name: null, accountType: null, currency: 'USD' }
  const unknownValues = new UnknownValueCounter({ broker: 'TRADESTATION', ...STILL })
  const lists = new RecordLists({ broker: 'TRADESTATION', ...STILL, unknownValues })
  const unused = { orders: { ordersOf: never }, reads: { list: never }, calls: { of: () => assert.fail('nothing is called') } }
  const login = { ...STILL, tokens: still(), unknownValues, lists, tracker: new OrderTracker(), ...unused }
  const accounts = new KnownAccounts({ read: async () => ({ known: [account], leftOut: [] }), streamedMax: 1, log: STILL.log })
  const options = { apiUrl: 'http://nowhere/v3', heartbeatMs: 6_000, compareMs: 60_000 }
  const [definition] = accountStreams(options, login, accounts)
  if (definition === undefined) throw new Error('TradeStation has a stream of orders')
  const stream = new AccountStream(definition, login, { positions: never, balances: never })
  const protocol = await stream.begin(new AbortController().signal)
  protocol.onFrame('{"StreamStatus":"EndSnapshot"}')
  return { order: text => orders(protocol.onFrame(text)), trade: quoted('trade'), quote: quoted('quote') }
}

/** Applies a line of the quote stream to its symbol. A day begins again with each round of the messages. */
function quoted(kind: 'trade' | 'quote'): (text: string) => number {
  const whole = Object(Object(fixtureOf('tradestation', 'market.quotes')).body)[0]
  let symbol = new PartialQuote(QUOTE_FIELDS)
  let lines = 0
  return text => {
    if (lines % COUNT === 0) {
      symbol = new PartialQuote(QUOTE_FIELDS)
      symbol.apply(whole, TIME)
    }
    lines += 1
    const message = readFrame(text)
    return message.type === 'record' && symbol.apply(message.record, TIME)[kind] !== null ? 1 : 0
  }
}
