import { TrunklineError } from '../errors.ts'
import type { Answer, Exchange } from '../exchange.ts'
import { type CancelResult, type CancelResults, cancelOrders } from '../generated/openapi.ts'
import { repeated } from '../transport.ts'

/** Which orders: exactly one of the three. */
export type CancelAll = { readonly account_id: string } | { readonly connection_id: string } | { readonly all: true }

/**
 * Repeats the request while orders are left. It requests no cancel twice. Answers the last result of each order; an order that ended while
 * the answer about it was lost has none.
 */
export async function cancelAll(exchange: Exchange, scope: CancelAll): Promise<Answer<CancelResults>> {
  const last = new Map<string, CancelResult>()
  try {
    for (;;) {
      const { data, meta } = await repeated(exchange, cancelOrders, scope)
      const { results, remaining } = data
      // Of an order that is requested in each round, only the first is a step.
      const isStep = results.some(({ order_id, result }) => /^(cancelled|requested)$/.test(result) && last.get(order_id)?.result !== result)
      for (const result of results) last.set(result.order_id, result)
      const answer = { data: { ...data, results: [...last.values()] }, meta }
      if (remaining === 0 && !results.some(({ result }) => /^(not_attempted|failed)$/.test(result))) return answer
      // Only rounds that did nothing count.
      if (isStep) exchange.renew()
      const left = new TrunklineError('timed_out', 'Some orders are left.')
      try {
        await exchange.pause(left)
      } catch (error) {
        if (error !== left) throw error
        // The results say what is left.
        return answer
      }
    }
  } catch (error) {
    throw error instanceof TrunklineError ? new TrunklineError(error.code, error.message, { ...error, results: [...last.values()] }) : error
  }
}
