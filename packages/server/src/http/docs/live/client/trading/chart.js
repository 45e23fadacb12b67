import { at, BarList } from './bar-list.js'
import { byId, onFrame } from './elements.js'
import { marksOf } from './fills.js'
import { figure, timesOf, zoneOf } from './format.js'

/** @import { Drawn } from './bar-list.js' */
/** @import { Fill } from './fills.js' */
/** @import { Bar } from './wire.js' */

/** If fewer bars than this are left of the visible range, older ones are requested. */
const MARGIN_BARS = 30
const WHEEL_BARS = 5

/**
 * What is used of the chart's library. Pages load it in ways of their own.
 * @typedef {Pick<typeof import('lightweight-charts'), 'CandlestickSeries' | 'createChart' | 'createSeriesMarkers' | 'HistogramSeries'>} Library
 */

const OPTIONS = /** @type {const} */ ({
  autoSize: true,
  // The licence requires a notice and a link, which are on the page. The logo would need an inline style, which the page's policy forbids.
  layout: { attributionLogo: false, fontFamily: 'system-ui, sans-serif', fontSize: 12 },
  rightPriceScale: { borderVisible: false, scaleMargins: { top: 0.12, bottom: 0.22 }, minimumWidth: 72 },
  timeScale: { borderVisible: false, timeVisible: true, secondsVisible: false, rightOffset: 6, barSpacing: 8 },
  // Vertical touch movements scroll the page.
  handleScroll: { vertTouchDrag: false },
  kineticScroll: { mouse: false, touch: true }
})

/** Candles with volume, for one series at a time. */
export class Chart {
  #frame = byId('chart', HTMLElement)
  #legend = byId('legend', HTMLElement)
  /** @type {import('lightweight-charts').IChartApi} */ #chart
  /** @type {import('lightweight-charts').ISeriesApi<'Candlestick'>} */ #candles
  /** @type {import('lightweight-charts').ISeriesApi<'Histogram'>} */ #volumes
  /** @type {import('lightweight-charts').ISeriesMarkersPluginApi<import('lightweight-charts').Time>} */ #marks
  /** @type {readonly Fill[]} */ #fills = []
  /** What the marks were made of. */
  #marked = ''
  #bars = new BarList()
  #times = timesOf('UTC')
  #symbol = ''
  #interval = ''
  #places = -1
  #isWhole = false
  #isRemoved = false
  /** @type {Drawn[]} */ #changed = []
  /** @type {number | null} */ #pointedAt = null
  #colors = colorsOf(this.#frame)
  #draw = onFrame(() => this.#drawn())
  /** @type {(oldest: number) => void} */ #wantOlder

  /**
   * @param {Library} library
   * @param {(oldest: number) => void} wantOlder called when the oldest bar is almost visible; its start in seconds since the epoch
   */
  constructor({ CandlestickSeries, createChart, createSeriesMarkers, HistogramSeries }, wantOlder) {
    this.#wantOlder = wantOlder
    this.#chart = createChart(this.#frame, OPTIONS)
    this.#candles = this.#chart.addSeries(CandlestickSeries, { borderVisible: false })
    this.#volumes = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceFormat: { type: 'volume' },
      priceLineVisible: false,
      lastValueVisible: false
    })
    this.#marks = createSeriesMarkers(this.#candles, [])
    this.#volumes.priceScale().applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } })
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange(range => {
      if (range !== null && range.from < MARGIN_BARS) this.#askOlder()
    })
    this.#chart.subscribeCrosshairMove(({ time }) => {
      this.#pointedAt = typeof time === 'number' ? time : null
      this.#report()
    })
    this.#frame.addEventListener('keydown', event => this.#press(event))
    this.paint()
  }

  /**
   * Clears the chart for another series.
   * @param {string} symbol
   * @param {string} interval
   */
  begin(symbol, interval) {
    this.#bars = new BarList()
    this.#changed = []
    this.#places = -1
    this.#symbol = symbol
    this.#interval = interval
    const { zone } = zoneOf(symbol)
    this.#times = timesOf(zone)
    const { moment, tick } = this.#times
    this.#chart.applyOptions({
      localization: { timeFormatter: (/** @type {number} */ time) => moment(time) },
      timeScale: {
        timeVisible: /[mh]$/.test(interval),
        tickMarkFormatter: (/** @type {number} */ time, /** @type {number} */ kind) => tick(time, kind)
      }
    })
    this.#isWhole = true
    this.#draw()
    this.#chart.timeScale().resetTimeScale()
    this.#chart.priceScale('right').applyOptions({ autoScale: true })
  }

  /** @param {Bar} bar */
  put(bar) {
    const { bar: drawn, isNewest } = this.#bars.put(bar)
    if (isNewest) this.#changed.push(drawn)
    else this.#isWhole = true
    // Redrawing everything is faster than many single updates. It also bounds what waits while the page is hidden.
    if (this.#changed.length > 8) this.#isWhole = true
    if (this.#isWhole) this.#changed = []
    this.#draw()
  }

  /** @param {readonly Bar[]} bars ascending, all older */
  putBefore(bars) {
    if (this.#bars.putBefore(bars) === 0) return
    this.#isWhole = true
    this.#draw()
  }

  /** Marks the fills that are of the series' symbol. @param {readonly Fill[]} fills */
  putFills(fills) {
    this.#fills = fills
    this.#draw()
  }

  /** The chart is used no more. */
  remove() {
    this.#isRemoved = true
    this.#chart.remove()
  }

  /** The last close as received; null if there is none. */
  get lastClose() {
    return this.#bars.last?.texts.c ?? null
  }

  #askOlder() {
    const { oldest } = this.#bars
    if (oldest !== null) this.#wantOlder(oldest)
  }

  #drawn() {
    if (this.#isRemoved) return
    this.#setPlaces()
    if (this.#isWhole) {
      this.#candles.setData(this.#bars.all.map(candle))
      this.#volumes.setData(this.#bars.all.map(bar => this.#volume(bar)))
    } else {
      for (const bar of this.#changed) {
        this.#candles.update(candle(bar))
        this.#volumes.update(this.#volume(bar))
      }
    }
    this.#mark()
    this.#isWhole = false
    this.#changed = []
    this.#report()
  }

  #mark() {
    const fills = this.#fills.filter(({ symbol }) => symbol === this.#symbol)
    const { all, oldest, last } = this.#bars
    const marked = [this.#symbol, this.#interval, oldest, last?.time, ...fills.map(({ id }) => id)].join()
    if (marked === this.#marked && !this.#isWhole) return
    this.#marked = marked
    const marks = marksOf(fills, all, this.#colors)
    this.#marks.setMarkers(marks)
    this.#frame.dataset.marks = String(marks.length)
  }

  #setPlaces() {
    const { places } = this.#bars
    if (places === this.#places) return
    this.#places = places
    this.#candles.applyOptions({ priceFormat: { type: 'price', precision: places, minMove: 1 / 10 ** places } })
  }

  /** Shows the figures of the bar under the pointer, else of the newest. */
  #report() {
    const bar = this.#bars.all.find(({ time }) => time === this.#pointedAt) ?? this.#bars.last
    const parts = this.#legend.querySelectorAll('output')
    const { o, h, l, c, v } = bar?.texts ?? {}
    for (const [at, text] of [o, h, l, c].entries()) show(parts[at], figure(text, this.#places))
    show(parts[4], figure(v))
    this.#legend.dataset.way = bar === undefined || bar.close === bar.open ? '' : bar.close > bar.open ? 'up' : 'down'
    const last = this.#bars.last
    if (last === undefined) {
      this.#frame.setAttribute('aria-label', 'Chart')
      this.#frame.dataset.drawn = ''
    } else {
      const { name } = zoneOf(this.#symbol)
      const { marks = '0' } = this.#frame.dataset
      const markedText = marks === '0' ? '' : `. Fills marked: ${marks}`
      const label = `Chart of ${this.#symbol}, candles of ${this.#interval}, ${this.#bars.all.length} bars. The last bar started ${this.#times.moment(last.time)} (${name}); its close is ${last.texts.c}${markedText}`
      // Updated only for a new bar, so that screen readers do not repeat it four times a second.
      const drawn = `${this.#symbol} ${this.#interval} ${last.time} ${this.#bars.all.length} ${marks}`
      if (this.#frame.dataset.drawn !== drawn) this.#frame.setAttribute('aria-label', label)
      this.#frame.dataset.drawn = drawn
    }
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    const scale = this.#chart.timeScale()
    const { barSpacing } = scale.options()
    if (event.key === 'ArrowLeft') scale.scrollToPosition(scale.scrollPosition() - WHEEL_BARS, false)
    else if (event.key === 'ArrowRight') scale.scrollToPosition(scale.scrollPosition() + WHEEL_BARS, false)
    else if (event.key === 'End') scale.scrollToRealTime()
    else if (event.key === '+') scale.applyOptions({ barSpacing: Math.min(40, barSpacing * 1.25) })
    else if (event.key === '-') scale.applyOptions({ barSpacing: Math.max(1, barSpacing / 1.25) })
    else return
    event.preventDefault()
  }

  /** Draws everything in the page's colours, which have changed. */
  paint() {
    this.#colors = colorsOf(this.#frame)
    const { ink, quiet, paper, line, up, down } = this.#colors
    this.#chart.applyOptions({
      layout: { background: { color: paper }, textColor: quiet },
      grid: { vertLines: { color: line }, horzLines: { color: line } },
      crosshair: { vertLine: { color: quiet, labelBackgroundColor: ink }, horzLine: { color: quiet, labelBackgroundColor: ink } }
    })
    this.#candles.applyOptions({ upColor: up, downColor: down, wickUpColor: up, wickDownColor: down })
    this.#isWhole = true
    this.#draw()
  }

  /** @param {Drawn} bar */
  #volume({ time, open, close, volume }) {
    const { upSoft, downSoft } = this.#colors
    return { time: at(time), value: volume, color: close >= open ? upSoft : downSoft }
  }
}

/** @param {Drawn} bar */
function candle({ time, open, high, low, close }) {
  return { time: at(time), open, high, low, close }
}

/**
 * @param {HTMLElement | undefined} element
 * @param {string} text
 */
function show(element, text) {
  if (element !== undefined && element.textContent !== text) element.textContent = text
}

/** The page's colours in the active colour scheme. @param {HTMLElement} element */
function colorsOf(element) {
  const probe = document.createElement('span')
  element.append(probe)
  /** @param {string} name */
  const color = name => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const colors = {
    ...{ ink: color('ink'), quiet: color('quiet'), paper: color('card'), line: color('grid') },
    ...{ up: color('up'), down: color('down'), upSoft: color('up-soft'), downSoft: color('down-soft') },
    ...{ buy: color('buy'), sell: color('sell') }
  }
  probe.remove()
  return colors
}
