import { readJson } from '../../../packages/brokers/src/kit/json.ts'
import { object } from '../../../packages/brokers/src/kit/parse.ts'
import { AccountStream } from '../../../packages/brokers/src/kit/runtime/account-stream.ts'
import { OrderTracker } from '../../../packages/brokers/src/kit/runtime/order-tracker.ts'
import { UnknownValueCounter } from '../../../packages/brokers/src/kit/unknown-values.ts'
import { accountStream } from '../../../packages/brokers/src/tradier/account-stream.ts'
import { parseOrder, parseOrders } from '../../../packages/brokers/src/tradier/codecs.ts'
import { dispatch, newSymbolSinks } from '../../../packages/brokers/src/tradier/market-stream.ts'
import type { Readings } from '../contender.ts'
import { amount, fixtureOf, type KindTexts, variations } from '../messages.ts'
import { Counter, orders } from './counter.ts'
import { never, STILL } from './still.ts'

const SYMBOL = 'SPY'
const ACCOUNT = '6YA00001'
const ORDERS = 1_000
const FIRST = 900_500

function written(name: string): string {
  return String(Object(fixtureOf('tradier', name)).text)
}

/** An event of the account stream, a trade (`timesale`) and a quote of the market stream. */
export function tradierMessages(): KindTexts {
  const [quote, trade] = written('market.frames')
    .split('\n')
    .slice(0, 2)
    .map(line => JSON.parse(line))
  return {
    order: variations(JSON.parse(written('event.order')), (event, number) => {
      Object.assign(event, { id: FIRST + (number % ORDERS), avg_fill_price: Number(amount(219, number)) })
    }),
    // All within the few seconds in which a stale repetition is recognized.
    trade: variations(trade, (item, number) => {
      Object.assign(item, { last: amount(600, number), seq: 4_411 + number, date: String(1_793_718_000_790 + number) })
    }),
    quote: variations(quote, (item, number) => {
      Object.assign(item, { bid: Number(amount(600, number)), ask: Number(amount(601, number)), bidsz: 1 + (number % 9) })
    })
  }
}

export async function tradierReadings(): Promise<Readings> {
  const tracker = new OrderTracker()
  const [one] = parseOrders(object(readJson(written('orders.one'), { numbers: 'text' }), 'answer'))
  const order = parseOrder(object(one, 'order'), ACCOUNT)
  for (let number = 0; number < ORDERS; number += 1) tracker.put({ ...order, brokerOrderId: String(FIRST + number) })
  const unknownValues = new UnknownValueCounter({ broker: 'TRADIER', ...STILL })
  const definition = accountStream({ url: 'ws://nowhere', heartbeatMs: 60_000 }, async () => 'session')
  const stream = new AccountStream(
    definition,
    { ...STILL, tracker, unknownValues, orders: { ordersOf: never } },
    { positions: never, balances: never }
  )
  const protocol = await stream.begin(new AbortController().signal)
  const counter = new Counter()
  const table = new Map([[SYMBOL, { ...newSymbolSinks({ symbol: SYMBOL }), trades: counter, quotes: counter }]])
  const market = (text: string) => {
    const before = counter.records
    dispatch(text, table)
    return counter.records - before
  }
  return { order: text => orders(protocol.onFrame(text)), trade: market, quote: market }
}
