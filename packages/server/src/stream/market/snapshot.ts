import type { PastBars } from '@trunkline/core/app/market/history'
import { barText } from './encode.ts'
import type { Snapshot } from './requests.ts'

/**
 * A snapshot's answer as one ASCII message; null if it is no longer wanted: then no further page is read from the broker. The client's
 * texts are escaped.
 */
export async function snapshotText(
  requestId: string,
  { symbol, interval, start, end }: Snapshot,
  bars: PastBars,
  isUnwanted: () => boolean
): Promise<string | null> {
  const suffix = `,"ev":"b","sym":${ascii(symbol)}}`
  const pages: string[] = []
  for await (const page of bars) {
    if (isUnwanted()) return null
    pages.push(page.map(bar => barText(bar) + suffix).join(','))
  }
  const head = `{"type":"snapshot_response","request_id":${ascii(requestId)},"symbol":${ascii(symbol)},"data_type":"bars"`
  const window = `,"interval":${ascii(interval)},"start_time":"${start}","end_time":"${end}","data":[`
  return `${head}${window}${pages.filter(page => page !== '').join(',')}]}`
}

/** A JSON string in ASCII. */
function ascii(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
