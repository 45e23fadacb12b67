import { INSTRUMENTS, MARKET_DATA_CHANNELS, ORDER_TYPES, SESSIONS, SIDES, TIMES_IN_FORCE } from '@trunkline/core/domain/vocabulary'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import Type, { type Static, type TSchema } from 'typebox'
import { record, word } from './common.ts'

/** A list per instrument; instruments the broker does not have are absent. */
function byInstrument<T extends TSchema>(item: T) {
  const list = Type.Optional(Type.Array(item))
  return Type.Object({ STK: list, OPT: list, MLEG_OPT: list, FUT: list, CRYPTO: list }, { additionalProperties: false })
}

export const brokerRecord = record('Broker', 'A broker that users can connect, and what can be done there.', {
  broker: Type.String({ examples: ['SANDBOX'] }),
  name: Type.String(),
  logo_color: Type.String({ examples: ['#2457a6'] }),
  login: word(['oauth', 'api_key']),
  environment: word(['sandbox', 'paper', 'live'], {
    description:
      'What its orders do: `sandbox` practises in the brokerage that comes with the service, `paper` in the broker’s own practice accounts, `live` trades.'
  }),
  instruments: Type.Array(word(INSTRUMENTS)),
  order_types: byInstrument(word(ORDER_TYPES)),
  times_in_force: byInstrument(word(TIMES_IN_FORCE)),
  sides: byInstrument(word(SIDES)),
  sessions: Type.Array(word(SESSIONS)),
  market_data: record('BrokerMarketData', 'What the market data stream can carry.', {
    channels: Type.Array(word(MARKET_DATA_CHANNELS)),
    intervals: Type.Array(Type.String({ examples: ['1m'] }), { description: 'Of its own past bars; others are made of these.' }),
    backfill_max: Type.Integer({ description: 'Most bars that `backfill_nbars` may ask for.' })
  }),
  notional: Type.Boolean({ description: 'Whether `order_notional` is taken.' }),
  fractional: Type.Boolean({ description: 'Whether quantities may have decimals.' }),
  replace: word(['native', 'cancel_then_new', 'none'], { description: 'How a modify is carried out.' }),
  account_stream: Type.Boolean(),
  transactions: Type.Boolean()
})
export const brokerList = Type.Array(brokerRecord)

export function presentBroker({ capabilities: broker, environment, login }: BrokerDefinition): Static<typeof brokerRecord> {
  return {
    broker: broker.id,
    name: broker.name,
    logo_color: broker.logoColor,
    login: login.kind,
    environment,
    instruments: [...broker.instruments],
    order_types: lists(broker.orderTypes),
    times_in_force: lists(broker.timesInForce),
    sides: lists(broker.sides),
    sessions: [...broker.sessions],
    market_data: {
      channels: [...broker.marketData.channels],
      intervals: [...broker.marketData.historyIntervals],
      backfill_max: broker.marketData.backfillMax
    },
    notional: broker.notional,
    fractional: broker.fractional,
    replace: broker.replace,
    account_stream: broker.accountStream,
    transactions: broker.transactions
  }
}

type ByInstrument<T> = { STK?: T[]; OPT?: T[]; MLEG_OPT?: T[]; FUT?: T[]; CRYPTO?: T[] }

function lists<T>(table: { readonly [instrument in keyof ByInstrument<T>]?: readonly T[] }): ByInstrument<T> {
  const copy: ByInstrument<T> = {}
  for (const instrument of INSTRUMENTS) {
    const list = table[instrument]
    if (list !== undefined) copy[instrument] = [...list]
  }
  return copy
}
