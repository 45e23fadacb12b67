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
 * What is shown of a figure that has more digits than its kind: cut to `places`, half rounded away from zero, and the exact text for a title.
 * Only for averages and estimates: an amount that somebody has or owes is shown with every digit.
 * @param {string | null | undefined} text a plain decimal
 * @param {number} places
 * @returns {{ readonly text: string, readonly title: string }} the title is empty where nothing was left out
 */
export function shortened(text, places) {
  const exact = figure(text)
  if (text === null || text === undefined || placesOf(text) <= places) return { text: figure(text, places), title: '' }
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const kept = BigInt(whole + fraction.slice(0, places)) + (Number(fraction[places]) >= 5 ? 1n : 0n)
  // A small figure would be shown as nothing.
  if (kept === 0n && /[1-9]/.test(text)) return { text: exact, title: '' }
  const digits = String(kept).padStart(places + 1, '0')
  const at = digits.length - places
  const cut = places === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`
  return {
    text: figure(text.startsWith('-') && kept !== 0n ? `-${cut}` : cut),
    title: /[1-9]/.test(fraction.slice(places)) ? `exactly ${exact}` : ''
  }
}

/**
 * The sum of plain decimals that are not negative, exact.
 * @param {readonly string[]} texts
 */
export function sumOf(texts) {
  const places = Math.max(0, ...texts.map(placesOf))
  const sum = texts.reduce((total, text) => total + BigInt(text.replace('.', '') + '0'.repeat(places - placesOf(text))), 0n)
  const digits = String(sum).padStart(places + 1, '0')
  const at = digits.length - places
  return places === 0 ? digits : `${digits.slice(0, at)}.${digits.slice(at)}`.replace(/\.?0+$/, '')
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

/** @typedef {{ clock(nanos: string): string, stamp(seconds: number): string, moment(seconds: number): string, tick(seconds: number, kind: number): string }} Times */

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
  const stamp = writer({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' })
  const ticks = [writer({ year: 'numeric' }), writer({ month: 'short' }), writer({ day: 'numeric', month: 'short' }), minute, second]
  return {
    clock: nanos => second.format(secondsOf(nanos) * 1_000),
    stamp: seconds => stamp.format(seconds * 1_000),
    moment: seconds => moment.format(seconds * 1_000),
    tick: (seconds, kind) => (ticks[kind] ?? minute).format(seconds * 1_000)
  }
}
