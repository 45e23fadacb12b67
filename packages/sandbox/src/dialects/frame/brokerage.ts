/** The records and pure helpers of the brokerage that dialects use. What they need of the running brokerage is in `brokerage-view.ts`. */

export { firstBars } from '../../brokerage/api/bars.ts'
export { Cursors } from '../../brokerage/api/cursor.ts'
export { aboutBody, paramOf } from '../../brokerage/api/orders.ts'
export type { Answer } from '../../brokerage/api/response-writer.ts'
export { symbolsOf } from '../../brokerage/api/ticket.ts'
export { isoOf, microsOf } from '../../brokerage/clock.ts'
export type { Account, Customer } from '../../brokerage/customers.ts'
export type { Dialect, OpenDialect } from '../../brokerage/dialect.ts'
export type { AccountObserver } from '../../brokerage/event-publisher.ts'
export { type Facts, type Fault, NO_FACTS, type Operation } from '../../brokerage/faults.ts'
export { Journal } from '../../brokerage/journal.ts'
export { takeJsonBodies } from '../../brokerage/json-body.ts'
export type { MarketDataTap } from '../../brokerage/market-data-taps.ts'
export type { Pass } from '../../brokerage/oauth/grants.ts'
export { redirectAllowed } from '../../brokerage/oauth/provider.ts'
export { SCOPES, type Scope } from '../../brokerage/oauth/scopes.ts'
export type { MultiLegTicket, Ticket } from '../../brokerage/order-service.ts'
export { Problem } from '../../brokerage/problems.ts'
export { Fields } from '../../brokerage/read.ts'
export type { StreamEndpoint } from '../../brokerage/stream/gate.ts'
export type { StreamFaultSpec } from '../../brokerage/stream/stream-faults.ts'
export { directionOf, hasSize, isLive, type Overlay, valuesOf } from '../../brokerage/wire.ts'
export type {
  AccountChangedEvent,
  BalanceView,
  FillView,
  InstrumentKind,
  LegView,
  MarketView,
  Micros,
  OrderEvent,
  OrderFilter,
  OrderReason,
  OrderState,
  OrderView,
  Phase,
  PositionView,
  QuoteCommand,
  QuoteLevel,
  TransactionView
} from '../../engine/types.ts'
export { divideHalfUp, formatScaled, readScaled } from '../../engine/units.ts'
export { daysOf } from '../../market/day-starts.ts'
export { describedLevels, printVenue } from '../../market/depth.ts'
export { NEW_YORK, newYorkDate } from '../../market/hours.ts'
export { optionSymbol, parseOptionSymbol, STRIKE_UNITS, strikeText } from '../../market/options/occ.ts'
export { draw, keyOf } from '../../market/synthetic/chance.ts'
export {
  BARS_MAX,
  type Bar,
  type BarInterval,
  type FeedTrade,
  type Instrument,
  MARKETS,
  type Market,
  type OptionFigures,
  UnknownSymbol
} from '../../market/types.ts'
