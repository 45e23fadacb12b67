// Formats figures and times. Prices are never converted to numbers.

const GROUP = /\B(?=(?:\d{3})+$)/g

/**
 * The number of decimal places of a price.
 * @param {string} text a plain decimal
 */
export function placesOf(text) {
  const at = text.indexOf('.')
  return at === -1 ? 0 : text.length - at - 1
}

/**
 * A number with thousands separators, padded with zeros to `places`. A dash if unknown.
 * @param {string | null | undefined} text a plain decimal
 * @param {number} [places]
 */
export function figure(text, places = 0) {
  if (text === null || text === undefined || text === '') return '–'
  const [whole = '', fraction = ''] = text.split('.')
  const padded = fraction.padEnd(places, '0')
  return whole.replace(GROUP, ',') + (padded === '' ? '' : `.${padded}`)
}

/**
 * A percentage with one decimal place.
 * @param {string | null | undefined} text a fraction of one
 */
export function percent(text) {
  return text === null || text === undefined ? '–' : `${(Number(text) * 100).toFixed(1)}%`
}

/**
 * A rounded number, for narrow columns.
 * @param {string | null | undefined} text
 * @param {number} places
 */
export function rounded(text, places) {
  return text === null || text === undefined ? '–' : Number(text).toFixed(places)
}

/**
 * Seconds since the epoch for a time in nanoseconds, as the chart needs them.
 * @param {string} nanos
 */
export function secondsOf(nanos) {
  return Number(nanos.slice(0, -9) || '0')
}

/**
 * The time zone for a symbol: UTC for crypto, New York for everything else.
 * @param {string} symbol
 */
export function zoneOf(symbol) {
  return symbol.includes('/') ? { name: 'UTC', zone: 'UTC' } : { name: 'New York', zone: 'America/New_York' }
}

/** @typedef {{ clock(nanos: string): string, moment(seconds: number): string, tick(seconds: number, kind: number): string }} Times */

/**
 * Formats times in a zone. The tick kinds are the chart's: 0 year, 1 month, 2 day, 3 time, 4 time with seconds.
 * @param {string} timeZone
 * @returns {Times}
 */
export function timesOf(timeZone) {
  /** @param {Intl.DateTimeFormatOptions} options */
  const writer = options => new Intl.DateTimeFormat('en-GB', { timeZone, ...options })
  const second = writer({ hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const minute = writer({ hour: '2-digit', minute: '2-digit' })
  const moment = writer({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' })
  const ticks = [writer({ year: 'numeric' }), writer({ month: 'short' }), writer({ day: 'numeric', month: 'short' }), minute, second]
  return {
    clock: nanos => second.format(secondsOf(nanos) * 1_000),
    moment: seconds => moment.format(seconds * 1_000),
    tick: (seconds, kind) => (ticks[kind] ?? minute).format(seconds * 1_000)
  }
}
