// Cancels many orders: each one like a single cancel, each with its own result.
import { type ErrorCode, ServiceError } from '../../domain/errors.ts'
import type { Freshness } from '../../domain/freshness.ts'
import { isOpen, type Order } from '../../domain/order.ts'
import { CommitUnknown, StoreUnavailable } from '../../ports/store.ts'
import type { AccountScope } from '../accounts/freshened.ts'
import { type FreshenedDeps, freshened } from '../accounts/freshened.ts'
import { audited, type UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { isCancelRequested } from '../execution/order-steps.ts'
import { type CancelDeps, cancelOrder } from './cancel-order.ts'

/** Most orders cancelled by one request. The rest is left for the next. */
export const CANCELS_MAX = 500
const AT_ONCE = 16
/** No cancel is started later than this, because the client is waiting for the response. */
const BEGIN_MS_MAX = 15_000

/**
 * `cancelled`: the broker confirmed it; `requested`: not yet confirmed; `ended`: the order ended in another way; `refused`: the broker
 * refused the cancel and the order works on; `failed`: the cancel could not be requested, for the reason given; `not_attempted`: time ran
 * out.
 */
export const CANCEL_RESULTS = ['cancelled', 'requested', 'ended', 'refused', 'failed', 'not_attempted'] as const

/** Not a failure of the request: the broker refused the cancel. */
export const BROKER_REFUSED = 'broker_refused'

type CancelManyDeps = CancelDeps & FreshenedDeps & Pick<Deps, 'store' | 'log'>

export interface CancelResult {
  readonly result: (typeof CANCEL_RESULTS)[number]
  /** The last known state. */
  readonly order: Order
  /** Why it is `refused` or `failed`; null for every other result. */
  readonly failure: { readonly code: ErrorCode | typeof BROKER_REFUSED; readonly message: string } | null
}

export interface Cancelled {
  readonly results: readonly CancelResult[]
  /** How many more open orders of the scope there are. */
  readonly remaining: number
  readonly freshness: readonly Freshness[]
}

/**
 * Requests the cancel of every open order of the scope, including orders placed elsewhere that the brokers list now. Repeating it sends
 * nothing twice. Orders without a requested cancel come first.
 * @throws ServiceError account_not_found, connection_not_found
 */
export async function cancelOrders(deps: CancelManyDeps, caller: UserCaller, scope: AccountScope, max = CANCELS_MAX): Promise<Cancelled> {
  const { store, clock } = deps
  const { accounts, freshness } = await freshened(deps, caller, scope, 'orders')
  const open = (await Promise.all(accounts.map(({ accountId }) => store.orders.unfinished({ accountId })))).flat()
  const candidates = [...open.filter(order => !isCancelRequested(order)), ...open.filter(isCancelRequested)]
  const chosen = candidates.slice(0, max)
  const target = scope.accountId ?? scope.connectionId ?? caller.user.userKey
  await store.audit.append(
    audited(clock, caller, 'order.cancel_all', target, { orders: chosen.length, remaining: open.length - chosen.length })
  )
  const results: CancelResult[] = []
  const begun = clock.monotonicMs()
  let next = 0
  const worker = async () => {
    for (let mine = next++; mine < chosen.length; mine = next++) {
      const order = chosen[mine]
      if (order === undefined) return
      const isLate = clock.monotonicMs() - begun > BEGIN_MS_MAX
      results[mine] = isLate ? { result: 'not_attempted', order, failure: null } : await one(deps, caller, order)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return { results, remaining: open.length - chosen.length, freshness }
}

async function one(deps: CancelManyDeps, caller: UserCaller, known: Order): Promise<CancelResult> {
  try {
    const order = await cancelOrder(deps, caller, known.accountId, known.orderId)
    const result = resultOf(order)
    return { result, order, failure: result === 'refused' ? refusalOf(order) : null }
  } catch (cause) {
    const order = (await deps.orderWriter.find(known.orderId).catch(() => null)) ?? known
    if (!isOpen(order.status)) return { result: order.status === 'cancelled' ? 'cancelled' : 'ended', order, failure: null }
    return { result: 'failed', order, failure: failureOf(deps, known, cause) }
  }
}

function resultOf(order: Order): CancelResult['result'] {
  if (order.status === 'cancelled') return 'cancelled'
  if (!isOpen(order.status)) return 'ended'
  return isCancelRequested(order) ? 'requested' : 'refused'
}

function refusalOf({ brokerMessage }: Order): NonNullable<CancelResult['failure']> {
  return { code: BROKER_REFUSED, message: brokerMessage ?? 'The broker refused the cancel and gave no reason.' }
}

/** Turns an unexpected error into a result, so that the other results are not lost. */
function failureOf({ log }: Pick<Deps, 'log'>, { orderId }: Order, cause: unknown): NonNullable<CancelResult['failure']> {
  if (cause instanceof ServiceError) return { code: cause.code, message: cause.message }
  if (cause instanceof StoreUnavailable || cause instanceof CommitUnknown)
    return { code: 'store_unavailable', message: 'It is unknown whether the cancel was stored; request it again.' }
  log.error('one of several cancels failed unexpectedly', { orderId, cause })
  return { code: 'internal', message: 'The service failed to cancel this order; request the cancel again.' }
}
