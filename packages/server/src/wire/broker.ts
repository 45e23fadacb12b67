import { backfillMaxOf, daysMaxOf } from '@trunkline/core/app/market/history-limits'
import { combinationsOf } from '@trunkline/core/domain/combinations'
import { parseInterval } from '@trunkline/core/domain/market/interval'
import {
  INSTRUMENTS,
  MARKET_DATA_CHANNELS,
  ORDER_TYPES,
  REPLACE_FIELDS,
  SESSIONS,
  SIDES,
  SIZES,
  TIMES_IN_FORCE,
  TRADING_HOURS
} from '@trunkline/core/domain/vocabulary'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import Type, { type Static, type TSchema } from 'typebox'
import { nullable, oneOf, record } from './common.ts'

/** A list for each instrument. Instruments that the broker does not offer are absent. */
function byInstrument<T extends TSchema>(item: T) {
  const list = Type.Optional(Type.Array(item))
  return Type.Object({ STK: list, OPT: list, MLEG_OPT: list, FUT: list, CRYPTO: list }, { additionalProperties: false })
}

const combination = record(
  'OrderCombination',
  'A combination that the broker accepts. An order with any other combination is refused before the broker is asked.',
  {
    instrument: oneOf(INSTRUMENTS),
    order_type: oneOf(ORDER_TYPES),
    order_tif: oneOf(TIMES_IN_FORCE),
    hours: oneOf(TRADING_HOURS, {
      description:
        'When the order can trade. `extended`: only before and after the regular hours; `exchange`: whenever the contract’s exchange is open; `always`: at any time.'
    }),
    placed: oneOf(['any_time', 'in_session'], {
      description:
        'When the order can be placed. `in_session`: only during the session that it is for; the broker rejects it at other times.'
    }),
    sides: Type.Array(oneOf(SIDES)),
    sizes: Type.Array(oneOf(SIZES), {
      description: '`whole` and `fraction` are quantities (`order_qty`), `notional` is an amount of money (`order_notional`).'
    })
  }
)

export const brokerRecord = record('Broker', 'A broker that users can connect, and its capabilities.', {
  broker: Type.String({ examples: ['SANDBOX'] }),
  name: Type.String(),
  logo_color: Type.String({ examples: ['#2457a6'] }),
  login: oneOf(['oauth', 'api_key']),
  environment: oneOf(['sandbox', 'paper', 'live'], {
    description:
      'Where its orders go. `sandbox`: to the brokerage that comes with the service; `paper`: to the broker’s own paper accounts; `live`: to the market.'
  }),
  instruments: Type.Array(oneOf(INSTRUMENTS)),
  order_types: byInstrument(oneOf(ORDER_TYPES)),
  times_in_force: byInstrument(oneOf(TIMES_IN_FORCE)),
  sides: byInstrument(oneOf(SIDES)),
  combinations: Type.Array(combination, {
    description:
      'Every combination that the broker accepts. The lists above show the values of each field; not all of them can be combined.'
  }),
  sessions: Type.Array(oneOf(SESSIONS)),
  market_data: record('BrokerMarketData', 'The market data that the broker offers.', {
    channels: Type.Array(oneOf(MARKET_DATA_CHANNELS)),
    intervals: Type.Array(Type.String({ examples: ['1m'] }), {
      description: 'Intervals of the broker’s own past bars. Other intervals are built from these.'
    }),
    backfill_max: Type.Integer({ description: 'The maximum of `backfill_nbars`, for any interval.' }),
    backfill: Type.Array(
      record('BrokerBackfill', 'How far back the broker’s own bars of an interval go.', {
        interval: Type.String({ examples: ['1m'] }),
        bars_max: Type.Integer({ description: 'The maximum of `backfill_nbars` for this interval. More are refused.' }),
        days_max: nullable(Type.Integer(), 'Days before today for which the broker has bars; null if no limit is known.')
      })
    ),
    daily_bars: oneOf(['core', 'all_hours'], {
      description:
        'What the broker’s own daily bars of a share cover: the core session or all hours. Bars of a day and longer with `BrokerDefault` cover the same.'
    }),
    daily_sessions: Type.Array(oneOf(SESSIONS), {
      description:
        'Further sessions, beside `daily_bars`, whose daily bars of a share come from the broker. For every other session, bars of a day and longer are built from minutes.'
    }),
    symbol_search: Type.Boolean({ description: 'Whether `…/market-data/symbols` is available.' }),
    live_volume: oneOf(['all', 'priced'], {
      description:
        'What the volume of a live bar counts when it closes: all trades, or only trades that set a price. A snapshot counts all.'
    })
  }),
  notional: Type.Boolean({ description: 'Whether `order_notional` is accepted.' }),
  fractional: Type.Boolean({ description: 'Whether quantities may have decimals.' }),
  replace: oneOf(['native', 'cancel_then_new', 'none'], { description: 'How a modification is executed.' }),
  replace_fields: byInstrument(
    oneOf(REPLACE_FIELDS, {
      description:
        'The fields of an open order that a modification may change, by instrument. Any other change is refused with 400 `order_not_supported` before anything is recorded.'
    })
  ),
  account_stream: Type.Boolean(),
  transactions: Type.Boolean(),
  order_preview: Type.Boolean({ description: 'Whether `POST /orders/preview` is available.' })
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
    combinations: combinationsOf(broker).map(({ instrument, type, tif, hours, placed, sides, sizes }) => ({
      instrument,
      order_type: type,
      order_tif: tif,
      hours,
      placed,
      sides: [...sides],
      sizes: [...sizes]
    })),
    sessions: [...broker.sessions],
    market_data: {
      channels: [...broker.marketData.channels],
      intervals: [...broker.marketData.historyIntervals],
      backfill_max: broker.marketData.backfillMax,
      backfill: broker.marketData.historyIntervals.map(interval => ({
        interval,
        bars_max: backfillMaxOf(broker.marketData, parseInterval(interval)),
        days_max: daysMaxOf(broker.marketData, parseInterval(interval))
      })),
      daily_bars: broker.marketData.dailyBars,
      daily_sessions: [...broker.marketData.dailySessions],
      symbol_search: broker.marketData.symbolSearch,
      live_volume: broker.marketData.liveVolume
    },
    notional: broker.notional,
    fractional: broker.fractional,
    replace: broker.replace,
    replace_fields: lists(broker.replaceFields),
    account_stream: broker.accountStream,
    transactions: broker.transactions,
    order_preview: broker.orderPreview
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
