// Requests over time. For the eye; the sums beside it are text.
import { createChart, HistogramSeries, type Time, type UTCTimestamp } from 'lightweight-charts'
import { type ReactNode, useEffect, useRef } from 'react'
import { localTime } from '../format.ts'
import { onColours } from '../theme.ts'
import type { TrafficBar } from '../traffic.ts'
import { TIME_ZONE } from './values.tsx'

const HEIGHT = 180

/** All requests, and in front of them the failed ones. */
export function TrafficChart({ bars }: { readonly bars: readonly TrafficBar[] }): ReactNode {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (place.current === null) return
    const styles = getComputedStyle(place.current)
    // The library reads colours itself and does not know `light-dark()`, so they are taken from elements that have them.
    const chart = createChart(place.current, {
      autoSize: true,
      height: HEIGHT,
      layout: {
        attributionLogo: false,
        background: { color: 'transparent' },
        fontFamily: 'system-ui, sans-serif'
      },
      grid: { vertLines: { visible: false }, horzLines: { visible: false } },
      rightPriceScale: { borderVisible: false },
      timeScale: { borderVisible: false, fixLeftEdge: true, fixRightEdge: true, tickMarkFormatter: clock },
      handleScroll: false,
      handleScale: false,
      localization: { priceFormatter: (count: number) => String(Math.round(count)), timeFormatter: clock }
    })
    const all = chart.addSeries(HistogramSeries, { lastValueVisible: false, priceLineVisible: false })
    const failed = chart.addSeries(HistogramSeries, { lastValueVisible: false, priceLineVisible: false })
    const paint = () => {
      chart.applyOptions({ layout: { textColor: styles.color } })
      all.applyOptions({ color: styles.borderTopColor })
      failed.applyOptions({ color: styles.outlineColor })
    }
    paint()
    const ignoreColours = onColours(paint)
    all.setData(bars.map(({ from, requests }) => barOf(from, requests)))
    failed.setData(bars.map(({ from, failed: count }) => barOf(from, count)))
    const fit = () => chart.timeScale().fitContent()
    fit()
    // The library keeps the width of the bars: a narrower page would show the oldest hours, and not the newest.
    chart.timeScale().subscribeSizeChange(fit)
    return () => {
      ignoreColours()
      chart.remove()
    }
  }, [bars])
  return <div ref={place} className="chart" aria-hidden="true" />
}

/** Without a value where there is nothing: a bar of no height is drawn as a line. */
function barOf(from: number, count: number): { time: UTCTimestamp; value: number } | { time: UTCTimestamp } {
  return count === 0 ? { time: seconds(from) } : { time: seconds(from), value: count }
}

function seconds(milliseconds: number): UTCTimestamp {
  return Math.floor(milliseconds / 1000) as UTCTimestamp
}

/** Hours and minutes in the zone of all other times of the console; the library alone would show UTC. */
function clock(time: Time): string {
  return typeof time === 'number' ? localTime(new Date(time * 1000).toISOString(), TIME_ZONE).slice(11, 16) : ''
}
