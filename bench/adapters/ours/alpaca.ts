import { accountStream } from '../../../packages/brokers/src/alpaca/account-stream.ts'
import { dispatch, JSON_FRAMES } from '../../../packages/brokers/src/alpaca/market-stream.ts'
import { AccountStream } from '../../../packages/brokers/src/kit/runtime/account-stream.ts'
import { OrderTracker } from '../../../packages/brokers/src/kit/runtime/order-tracker.ts'
import { TopicSinks } from '../../../packages/brokers/src/kit/runtime/topic-sinks.ts'
import { UnknownValueCounter } from '../../../packages/brokers/src/kit/unknown-values.ts'
import type { Readings } from '../contender.ts'
import { amount, digits, fixtureOf, type KindTexts, variations } from '../messages.ts'
import { Counter, orders } from './counter.ts'
import { never, STILL, still } from './still.ts'

const SYMBOL = 'AAPL'

/** An execution of `trade_updates`, a trade and a quote of the stock stream; the last two as lists of one, as they arrive at low volume. */
export function alpacaMessages(): KindTexts {
  const { body: execution } = Object(fixtureOf('alpaca', 'stream.partial'))
  const { body: items } = Object(fixtureOf('alpaca', 'market.stream'))
  const [trade, quote] = ['t', 'q'].map(kind => items.find((item: { T: string }) => item.T === kind))
  return {
    order: variations(execution, ({ data }, number) => {
      data.execution_id = `e7e7e7e7-0000-4000-8000-${digits(12, number)}`
      data.price = amount(150, number)
      data.order.id = `d3b0c4a1-0000-4000-8000-${digits(12, number)}`
      data.order.client_order_id = `tl${digits(6, number)}`
      data.order.filled_avg_price = data.price
      data.order.limit_price = amount(160, number)
    }),
    trade: variations([trade], ([item], number) => {
      Object.assign(item, { i: 96_921 + number, p: Number(amount(126, number)), s: 1 + (number % 900) })
    }),
    quote: variations([quote], ([item], number) => {
      Object.assign(item, { bp: Number(amount(126, number)), bs: 1 + (number % 9), ap: Number(amount(127, number)), as: 300 })
    })
  }
}

export async function alpacaReadings(): Promise<Readings> {
  const unknownValues = new UnknownValueCounter({ broker: 'ALPACA', ...STILL })
  const definition = accountStream({
    ...{ url: 'ws://nowhere', tokens: still(), pingMs: 1_000, ...STILL, unknownValues },
    ...{ hello: () => ({ auth: {}, authenticate: {} }), account: async () => 'account', openOrders: never }
  })
  const login = { ...STILL, tracker: new OrderTracker(), unknownValues, orders: { ordersOf: never } }
  const stream = new AccountStream(definition, login, { positions: never, balances: never })
  const protocol = await stream.begin(new AbortController().signal)
  const counter = new Counter()
  const tables = new TopicSinks()
  for (const channel of ['trades', 'quotes'] as const) tables.add({ channel, symbol: SYMBOL }, counter)
  const market = (text: string) => {
    const before = counter.records
    dispatch(JSON_FRAMES.decode(text), tables)
    return counter.records - before
  }
  return { order: text => orders(protocol.onFrame(text)), trade: market, quote: market }
}
