// The end of a replay whose original was cancelled, and the waits between its steps.
import type { NotRepeated, ReplayPlan } from '@trunkline/core/app/operators/replay-plan'
import { cancelOrder } from '@trunkline/core/app/orders/cancel-order'
import { ServiceError } from '@trunkline/core/domain/errors'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import type { OperatorDeps } from '../deps.ts'
import { askSandbox } from '../sandbox/own.ts'
import { SANDBOX } from '../sandbox/requests.ts'
import type { PracticeAccount } from './practice.ts'

/** How long the fills or the end of the order, and then a cancel, are waited for, in steps. Prices pause for twice as long at most. */
const WAIT_MS = 5_000
const LOOK_MS = 100

/** What was placed, and what of the original it does not have. */
export interface Repeated {
  readonly order: Order
  readonly left: readonly NotRepeated[]
}

type Deps = Pick<OperatorDeps, 'app' | 'sandbox'>

/**
 * The order once it was cancelled. A cancel that is refused is no failure of the replay, which would leave an order that nothing links with
 * the original: it may have ended just before. Then the answer says why.
 */
export async function cancelled(
  deps: Deps,
  who: NonNullable<ReplayPlan['cancel']>,
  order: Order,
  place: Pick<PracticeAccount, 'caller' | 'account'>
): Promise<Repeated> {
  const refusal = await cancel(deps, who, order, place).then(
    () => null,
    (cause: unknown) => {
      if (!(cause instanceof ServiceError)) throw cause
      return cause
    }
  )
  const why = refusal === null ? null : `Its cancel was refused (${refusal.code}): ${refusal.message}`
  const ended = await until(deps, order, present => !isOpen(present.status))
  return { order: ended, left: why === null ? [] : [{ part: 'end', why }] }
}

async function cancel(
  deps: Deps,
  who: NonNullable<ReplayPlan['cancel']>,
  { orderId, brokerOrderId }: Order,
  { caller, account }: Pick<PracticeAccount, 'caller' | 'account'>
): Promise<void> {
  if (who === 'service') await cancelOrder(deps.app, caller, account.accountId, orderId)
  else if (brokerOrderId !== null) await askSandbox(deps, SANDBOX.cancelOrder(brokerOrderId))
}

/**
 * Cancels an order that is open when the replay has come as far as the original: the practice account would have one more with each replay.
 * Never throws: the order is placed, and is not to be lost.
 */
export async function cleared(deps: Deps, open: Order, place: Pick<PracticeAccount, 'caller' | 'account'>): Promise<Repeated> {
  const { app } = deps
  try {
    const { order, left } = await cancelled(deps, 'service', open, place)
    if (left.length > 0) return { order, left }
    const why = isOpen(order.status)
      ? 'The order was open at the end of the replay. Its cancel was requested, and has no outcome yet.'
      : `The order was ${open.status} at the end of the replay, and was cancelled then, so that the practice account has no open orders of replays.`
    return { order, left: [{ part: 'end', why }] }
  } catch (cause) {
    app.log.warn('the order of a replay could not be cancelled', { orderId: open.orderId, cause })
    const why = 'The order is open at the end of the replay, and its cancel failed: cancel it on the page Sandbox.'
    return { order: (await app.store.orders.find(open.orderId)) ?? open, left: [{ part: 'end', why }] }
  }
}

/** The order once it is so, or as it is after five seconds. */
export async function until({ app: { store, clock } }: Deps, first: Order, isSo: (order: Order) => boolean): Promise<Order> {
  const endsAt = clock.monotonicMs() + WAIT_MS
  let order = first
  while (!isSo(order) && clock.monotonicMs() < endsAt) {
    await clock.sleep(LOOK_MS)
    order = (await store.orders.find(order.orderId)) ?? order
  }
  return order
}
