/** Past bars in pages, as they come. */

import type { Bar } from '@trunkline/core/domain/market/records'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest } from '@trunkline/core/ports/market'
import { type Paged, pages } from '../pages.ts'

/** Beyond it a time is not written with four digits of a year. */
const TIME_MAX = Date.UTC(9999, 11, 31)

export interface BarsPage extends Paged {
  readonly bars: readonly Bar[]
}

/** @throws BrokerFault `refused` for a window of times that have no text */
export function demandWindow({ fromMs, toMs }: Pick<BarsRequest, 'fromMs' | 'toMs'>): void {
  if (!(fromMs >= 0 && fromMs <= toMs && toMs <= TIME_MAX))
    throw new BrokerFault('refused', `bars are requested from one time to a later one between 1970 and 9999, not from ${fromMs} to ${toMs}`)
}

/** The bars of each page that has any. @throws BrokerFault `malformed` for bars that do not ascend; `refused` beyond `pagesMax`; what `read` throws */
export async function* pagedBars(
  pagesMax: number,
  read: (cursor: string | null) => Promise<BarsPage>
): AsyncGenerator<readonly Bar[], void, undefined> {
  let lastMs = Number.NEGATIVE_INFINITY
  for await (const { bars } of pages(pagesMax, read)) {
    for (const { startMs } of bars) {
      if (startMs <= lastMs) throw new BrokerFault('malformed', "the broker's bars do not ascend")
      lastMs = startMs
    }
    if (bars.length > 0) yield bars
  }
}
