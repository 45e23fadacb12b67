/**
 * TradeStation's market streams: quotes of up to 100 symbols each; bars, order books and chains one by one. Each is fixed when it is
 * opened.
 */

import { continuousCalendar } from '@trunkline/core/domain/calendar/index'
import { parseSymbol } from '@trunkline/core/domain/symbol'
import type { Day } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { Topic, TopicSink } from '@trunkline/core/ports/market'
import { utcMsOf } from '../kit/exact-values.ts'
import { growingBars } from '../kit/growing-bars.ts'
import { readObject } from '../kit/json.ts'
import type { MarketClock } from '../kit/market-clock.ts'
import type { MarketHours } from '../kit/market-hours.ts'
import { field, text, type Wire } from '../kit/parse.ts'
import { PartialQuote, type QuoteFields } from '../kit/partial-quotes.ts'
import { get } from '../kit/requests.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import { FixedListFeed } from '../kit/runtime/fixed-list-feed.ts'
import type { FixedStreamMessage } from '../kit/runtime/fixed-stream.ts'
import { FixedTopicFeed, type TopicStream } from '../kit/runtime/fixed-topic-feed.ts'
import { refusedLater } from '../kit/subscription.ts'
import { lineOf, linesAt } from './account-stream.ts'
import { type ChainStreams, INTERVALS, LEVELS_MAX, monthFirst, parseBar, parseDepth, parseEntry, spelling, templateOf } from './market.ts'
import { amount, errorMessageOf, type Resource } from './quirks.ts'

/** Symbols that one stream of quotes may have. */
const SYMBOLS_MAX = 100
/** Order books, and chains, that one login may stream at once. */
const OPEN_MAX = 10
/** Strikes on either side of the last price. The default is 5, a bound is not documented: more than any chain has. */
const STRIKES = 500
/** Of errors in a stream's own lines, those that pass: it is requested again. */
const PASSING: ReadonlySet<string> = new Set([
  ...['DualLogon', 'InternalServerError', 'ServiceUnavailable', 'GatewayTimeout', 'TooManyRequests']
])
/** Minutes are not cut at days. */
const NO_DAYS = continuousCalendar()

export const QUOTE_FIELDS: QuoteFields = {
  ...{ bid: 'Bid', bidSize: 'BidSize', ask: 'Ask', askSize: 'AskSize' },
  ...{ last: 'Last', lastSize: 'LastSize', volume: 'Volume', tradeTime: 'TradeTime', venue: 'LastVenue' },
  amount
}

export interface MarketStreamOptions {
  readonly apiUrl: string
  readonly hours: MarketHours
  readonly heartbeatMs: number
}

export function tradestationStreams(
  { apiUrl, hours, heartbeatMs }: MarketStreamOptions,
  { tokens, clock, socket: connection, calls }: Pick<OpenLogin<Resource>, 'calls' | 'tokens' | 'clock' | 'socket'>,
  marketClock: MarketClock
): ChainStreams {
  const definition = { lines: linesAt(apiUrl), heartbeatMs, read: readFrame, errorMessage: errorMessageOf }
  const shared = { definition, connection, tokens, clock, marketClock, broker: 'TradeStation' }
  const topics = new FixedTopicFeed(shared)
  const quotes = new FixedListFeed({
    ...shared,
    symbolsMax: SYMBOLS_MAX,
    path: symbols => `/marketdata/stream/quotes/${symbols.map(encodeURIComponent).join(',')}`,
    opens: calls.limiterOf('quote_streams'),
    toBroker: spelling,
    symbolOf: wire => text(wire, 'Symbol', 64),
    newState: () => new PartialQuote(QUOTE_FIELDS)
  })
  return {
    stream(topic, sink) {
      if (topic.channel === 'quotes' || topic.channel === 'trades') return quotes.stream(topic, sink)
      const symbol = spelling(topic.symbol)
      const how = symbol === null ? null : howOf(topic, symbol)
      return how === null ? refusedLater(sink, `the broker has no ${topic.channel} of ${topic.symbol}`) : topics.stream(topic, sink, how)
    },
    demandChainCapacity() {
      if (topics.openOf('options_chain') >= OPEN_MAX)
        throw new BrokerFault('unreachable', `TradeStation streams at most ${OPEN_MAX} chains at once, and so many are followed`)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([quotes[Symbol.asyncDispose](), topics[Symbol.asyncDispose]()])
    }
  }

  function howOf(topic: Exclude<Topic, { channel: 'quotes' | 'trades' }>, symbol: string): TopicStream | null {
    const limited = { kind: topic.channel, openMax: OPEN_MAX }
    switch (topic.channel) {
      case 'depth': {
        const { path } = get(`/marketdata/stream/marketdepth/aggregates/${encodeURIComponent(symbol)}`, { maxlevels: String(LEVELS_MAX) })
        return { ...limited, path, opens: calls.limiterOf('depth_streams'), reader: sink => wire => sink.depth(parseDepth(wire)) }
      }
      case 'options_chain': {
        const { expiration } = topic
        const reader = (sink: TopicSink) => (wire: Wire) => {
          const entry = parseEntry(wire, expiration)
          if (entry !== null) sink.chain(entry)
        }
        return { ...limited, path: chainPath(symbol, expiration), opens: calls.limiterOf('options'), reader }
      }
      case 'bars': {
        if (topic.interval !== '1m') return null
        const path = barsPath(symbol, templateOf(INTERVALS['1m'], parseSymbol(topic.symbol).instrument, hours))
        return { ...limited, openMax: null, path, opens: calls.limiterOf('bar_streams'), reader: sink => barReader(sink, marketClock) }
      }
    }
  }
}

/** @throws Malformed */
export function readFrame(frame: string): FixedStreamMessage {
  const wire = readObject(frame, 'line')
  const line = lineOf(wire)
  switch (line.type) {
    case 'heartbeat':
      return { type: 'heartbeat', atMs: wire.Timestamp === undefined ? null : utcMsOf(wire.Timestamp, 'Timestamp') }
    case 'over': {
      if (line.error === null) return { type: 'closing', reason: line.reason }
      const { code, message } = line.error
      return { type: 'error', symbol: typeof wire.Symbol === 'string' ? wire.Symbol : null, message, passes: PASSING.has(code) }
    }
    default:
      return { type: 'record', record: wire }
  }
}

/** Minutes as they grow. The last bar before comes first. */
export function barsPath(symbol: string, template: string | null): string {
  const query = { interval: '1', unit: 'Minute', barsback: '1', sessiontemplate: template }
  return get(`/marketdata/stream/barcharts/${encodeURIComponent(symbol)}`, query).path
}

export function barReader(sink: TopicSink, marketClock: MarketClock): (wire: Wire) => void {
  const grow = growingBars(bar => sink.bar(bar), marketClock)
  return wire => {
    const isPresent = field(wire, 'IsEndOfHistory') === true || field(wire, 'IsRealtime') === true
    grow(parseBar(wire, INTERVALS['1m'], NO_DAYS), isPresent)
  }
}

export function chainPath(underlying: string, expiration: Day): string {
  const all = { strikeProximity: String(STRIKES), spreadType: 'Single', enableGreeks: 'true', strikeRange: 'All', optionType: 'All' }
  return get(`/marketdata/stream/options/chains/${encodeURIComponent(underlying)}`, { expiration: monthFirst(expiration), ...all }).path
}
