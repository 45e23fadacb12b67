import { TrunklineError } from '../errors.ts'
import type { Answer, Exchange } from '../exchange.ts'
import { type CancelResult, type CancelResults, cancelOrders } from '../generated/openapi.ts'
import { repeated } from '../transport.ts'

/** Which orders: exactly one of the three. */
export type CancelAll = { readonly account_id: string } | { readonly connection_id: string } | { readonly all: true }

/** Repeats the request while orders are left. It requests no cancel twice. Answers the last result of each order. */
export async function cancelAll(exchange: Exchange, scope: CancelAll): Promise<Answer<CancelResults>> {
  const last = new Map<string, CancelResult>()
  for (;;) {
    const { data, meta } = await repeated(exchange, cancelOrders, scope)
    for (const result of data.results) last.set(result.order_id, result)
    const isOver = !data.remaining && !data.results.some(({ result }) => result === 'not_attempted' || result === 'failed')
    const answer = { data: { ...data, results: [...last.values()] }, meta }
    if (isOver) return answer
    // Only rounds that did nothing count.
    if (data.results.some(({ result }) => result === 'cancelled' || result === 'requested')) exchange.renew()
    try {
      await exchange.pause(new TrunklineError('timed_out', 'Some orders are left.'))
    } catch (error) {
      if (error instanceof TrunklineError && error.code === 'aborted') throw error
      // The results say what is left.
      return answer
    }
  }
}
