// The bars of a chart, as a page reads them.
import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { type Bars, firstBars, furtherBars, readerOf, type Series } from './bars.ts'

/** The bars of a series; null: there is none. `refreshMs`: how often they are read again. */
export function useBars(series: Series | null, refreshMs: number | undefined) {
  const known = useRef<{ readonly of: string; readonly bars: Bars } | null>(null)
  const of = JSON.stringify(series)
  return useQuery({
    queryKey: ['bars', of],
    enabled: series !== null,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      if (series === null) throw new Error('expected a series of bars')
      const before = known.current?.of === of ? known.current.bars : null
      const [readBars, { interval }] = [readerOf(series, signal), series]
      const bars =
        before === null
          ? await firstBars(readBars, interval, performance.timeOrigin + performance.now())
          : await furtherBars(readBars, interval, before)
      known.current = { of, bars }
      return bars
    },
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs })
  })
}
