import { readJson } from '../../../packages/brokers/src/kit/json.ts'
import { object } from '../../../packages/brokers/src/kit/parse.ts'
import { KnownAccounts } from '../../../packages/brokers/src/kit/runtime/known-accounts.ts'
import { UnknownValueCounter } from '../../../packages/brokers/src/kit/unknown-values.ts'
import { parseOrder } from '../../../packages/brokers/src/tradestation/codecs.ts'
import { QuotedSymbol } from '../../../packages/brokers/src/tradestation/market/quote.ts'
import { OrdersStream } from '../../../packages/brokers/src/tradestation/orders-stream.ts'
import { parseLine } from '../../../packages/brokers/src/tradestation/stream.ts'
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
  const now = STILL.clock.now()
  const stream = new OrdersStream({
    apiUrl: 'http://nowhere/v3',
    tokens: still(),
    heartbeatMs: 6_000,
    ...STILL,
    unknownValues: new UnknownValueCounter({ broker: 'TRADESTATION', ...STILL }),
    accountState: new KnownAccounts({ read: async () => ({ known: [account], leftOut: [] }), streamedMax: 1, log: STILL.log }),
    compareMs: 60_000,
    parse: wire => parseOrder(wire, now),
    list: never,
    order: never,
    balances: never
  })
  const protocol = await stream.begin(new AbortController().signal)
  protocol.onFrame('{"StreamStatus":"EndSnapshot"}')
  return { order: text => orders(protocol.onFrame(text)), trade: quoted('trade'), quote: quoted('quote') }
}

/** Applies a line of the quote stream to its symbol. A day begins again with each round of the messages. */
function quoted(kind: 'trade' | 'quote'): (text: string) => number {
  const whole = Object(Object(fixtureOf('tradestation', 'market.quotes')).body)[0]
  let symbol = new QuotedSymbol()
  let lines = 0
  return text => {
    if (lines % COUNT === 0) {
      symbol = new QuotedSymbol()
      symbol.apply(whole, TIME)
    }
    lines += 1
    const wire = object(readJson(text, { numbers: 'text' }), 'line')
    return parseLine(wire).type === 'record' && symbol.apply(wire, TIME)[kind] !== null ? 1 : 0
  }
}
