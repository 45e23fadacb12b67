/** The Bar object of REST and of the bar stream. */

import { toBar } from '../frame/brokerage.ts'
import type { FramedBar } from './bar-history.ts'
import { timeOf } from './times.ts'

export interface BarDetails {
  readonly isClosed: boolean
  /** Made of trades as they came. */
  readonly isRealtime: boolean
  readonly isEndOfHistory: boolean
}

/** The sandbox counts no ticks; a bar's volume is wholly up or down. */
export function barWire({ frame, bar }: FramedBar, { isClosed, isRealtime, isEndOfHistory }: BarDetails): object {
  const { open, high, low, close, volume } = toBar(bar, isClosed)
  const whole = Math.floor(Number(volume))
  const isUp = bar.close >= bar.open
  return {
    High: high,
    Low: low,
    Open: open,
    Close: close,
    TimeStamp: timeOf(frame.label),
    TotalVolume: volume,
    DownTicks: 0,
    DownVolume: isUp ? 0 : whole,
    OpenInterest: '0',
    IsRealtime: isRealtime,
    IsEndOfHistory: isEndOfHistory,
    TotalTicks: 0,
    UnchangedTicks: 0,
    UnchangedVolume: 0,
    UpTicks: 0,
    UpVolume: isUp ? whole : 0,
    Epoch: Math.floor(frame.label / 1_000),
    BarStatus: isClosed ? 'Closed' : 'Open'
  }
}
