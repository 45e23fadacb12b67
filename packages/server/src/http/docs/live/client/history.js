// Loads older bars, one window at a time, until there are none.

/** @import { Connection } from './connection.js' */
/** @import { Bar, Message, Snapshot } from './trading/wire.js' */

const UNIT_S = /** @type {Readonly<Record<string, number>>} */ ({
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 7 * 86_400,
  M: 30 * 86_400,
  y: 365 * 86_400
})
/** Bars in a window if the market never closed. */
const WINDOW_BARS = 400
/** Half of the bars that one snapshot may contain, and of the broker's bars that it may need. */
const WIDEST_BARS = 25_000
/** Intervals, in minutes, of brokers' bars that other bars are built from, longest first. */
const MADE_OF = [15, 5, 1]
/** The service's exchange calendars begin here. */
const OLDEST_S = Date.UTC(1998, 0, 5) / 1_000
/** After this many consecutive windows without a bar, each twice as long as the previous one, no older bars are expected. */
const EMPTY_MAX = 6

/**
 * The length of an interval in seconds; approximate for months and years.
 * @param {string} interval as in `4h`
 */
export function secondsIn(interval) {
  const [, count = '', unit = ''] = /^(\d+)([mhdwMy])$/.exec(interval) ?? []
  return Number(count) * (UNIT_S[unit] ?? Number.NaN)
}

/**
 * The most bars of an interval in one window.
 * @param {string} interval
 */
function widest(interval) {
  const minutes = secondsIn(interval) / 60
  // Bars of a day and longer are built from days.
  if (minutes >= 1_440 && !/[mh]$/.test(interval)) return WIDEST_BARS
  const smaller = MADE_OF.find(length => minutes % length === 0) ?? 1
  return Math.max(1, Math.floor((WIDEST_BARS * smaller) / minutes))
}

/**
 * @typedef {object} Series
 * @property {string} symbol
 * @property {string} interval
 */

export class History {
  /** @type {Connection} */ #connection
  /** @type {(bars: readonly Bar[]) => void} */ #older
  /** @type {(state: 'more' | 'loading' | 'none' | 'never' | 'failed') => void} */ #report
  /** @type {Series | null} */ #series = null
  /** Before when the bars are that were asked for; null: none were. @type {number | null} */ #asked = null
  #factor = 1
  #empty = 0
  #generation = 0

  /**
   * @param {Connection} connection
   * @param {(bars: readonly Bar[]) => void} older receives them, ascending
   * @param {(state: 'more' | 'loading' | 'none' | 'never' | 'failed') => void} report
   */
  constructor(connection, older, report) {
    this.#connection = connection
    this.#older = older
    this.#report = report
  }

  /**
   * Switches to another series, or to none.
   * @param {Series | null} series
   */
  begin(series) {
    this.#series = series
    this.#asked = null
    this.#factor = 1
    this.#empty = 0
    this.#generation += 1
    this.#report(series === null ? 'never' : 'more')
  }

  /** Goes on in a new session: what was asked for in the one before is never answered, so it is asked for again. */
  again() {
    const asked = this.#asked
    this.#asked = null
    this.#generation += 1
    if (asked !== null) this.want(asked)
  }

  /**
   * Requests older bars, unless a request is pending or there are no more.
   * @param {number} beforeS seconds since the epoch
   */
  want(beforeS) {
    if (this.#series === null || this.#asked !== null || this.#empty > EMPTY_MAX || beforeS <= OLDEST_S) return
    const { symbol, interval } = this.#series
    const generation = this.#generation
    const bars = Math.min(WINDOW_BARS * this.#factor, widest(interval))
    const fromS = Math.max(OLDEST_S, beforeS - bars * secondsIn(interval))
    this.#asked = beforeS
    this.#report('loading')
    const requested = { symbol, interval, data_type: 'bars', start_time: iso(fromS), end_time: iso(beforeS) }
    this.#connection.request({ action: 'snapshot', ...requested }, reply => generation === this.#generation && this.#take(reply, fromS))
  }

  /**
   * @param {Message} reply
   * @param {number} fromS
   */
  #take(reply, fromS) {
    this.#asked = null
    if (reply.type !== 'snapshot_response') {
      this.#empty = EMPTY_MAX + 1
      this.#report('failed')
      return
    }
    const { data } = /** @type {Snapshot} */ (reply)
    if (data.length === 0) {
      this.#empty = fromS === OLDEST_S ? EMPTY_MAX + 1 : this.#empty + 1
      this.#factor *= 2
      if (this.#empty > EMPTY_MAX) this.#report('none')
      else this.want(fromS)
      return
    }
    this.#empty = 0
    if (data.length < WINDOW_BARS / 4) this.#factor *= 2
    this.#report('more')
    this.#older(data)
  }
}

/** @param {number} seconds */
function iso(seconds) {
  return new Date(seconds * 1_000).toISOString()
}
