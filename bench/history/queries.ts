/** The queries for past bars: the most expensive one of each kind that a request may contain. */

export type Query = { readonly what: string } & (
  | { readonly by: 'subscribe'; readonly interval: string; readonly session: string; readonly count: number }
  | { readonly by: 'snapshot'; readonly interval: string; readonly start: string; readonly end: string }
  | { readonly by: 'REST'; readonly interval: string; readonly start: string; readonly end: string; readonly limit: number }
)

export const SYMBOL = 'SPY'
const CORE = 'USEqCore'
const NOW = new Date().toISOString()
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
const FORTY_YEARS = daysAgo(40 * 365.25)
/** Fewer than the bars of one snapshot at most, on any day. */
const MANY_MINUTES = daysAgo(45)

export const QUERIES: readonly Query[] = [
  { what: '40 yearly bars, core session', by: 'subscribe', interval: '1y', session: CORE, count: 40 },
  { what: '480 monthly bars, core session', by: 'subscribe', interval: '1M', session: CORE, count: 480 },
  { what: '2,080 weekly bars, core session', by: 'subscribe', interval: '1w', session: CORE, count: 2_080 },
  { what: '10,000 daily bars, core session', by: 'subscribe', interval: '1d', session: CORE, count: 10_000 },
  { what: '10,000 bars of a minute, all hours', by: 'subscribe', interval: '1m', session: 'BrokerDefault', count: 10_000 },
  { what: '10,000 bars of a minute, core session', by: 'subscribe', interval: '1m', session: CORE, count: 10_000 },
  { what: '10,000 bars of 4 minutes, all hours', by: 'subscribe', interval: '4m', session: 'BrokerDefault', count: 10_000 },
  { what: 'as many bars of a minute as a snapshot has', by: 'snapshot', interval: '1m', start: MANY_MINUTES, end: NOW },
  { what: 'the snapshot of 40 years, yearly', by: 'snapshot', interval: '1y', start: FORTY_YEARS, end: NOW },
  { what: '40 years, yearly', by: 'REST', interval: '1y', start: FORTY_YEARS, end: NOW, limit: 500 },
  { what: '5,000 daily bars', by: 'REST', interval: '1d', start: FORTY_YEARS, end: NOW, limit: 5_000 },
  { what: '5,000 bars of a minute', by: 'REST', interval: '1m', start: MANY_MINUTES, end: NOW, limit: 5_000 }
]
