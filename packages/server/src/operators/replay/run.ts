// A replay: the order again, in the sandbox, by the use case that serves platforms.

import { type OperatorCaller, operatorAudit } from '@trunkline/core/app/operators/access'
import { type NotRepeated, planReplay, type ReplayPlan } from '@trunkline/core/app/operators/replay-plan'
import { cancelOrder } from '@trunkline/core/app/orders/cancel-order'
import { placeOrder } from '@trunkline/core/app/orders/place-order'
import { areEqual } from '@trunkline/core/domain/decimal'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type ClOrdId, type OrderId, parseClOrdId } from '@trunkline/core/domain/ids'
import { isOpen, type Order } from '@trunkline/core/domain/order'
import { filledQuantity } from '@trunkline/core/domain/order-machine'
import type { OperatorDeps } from '../deps.ts'
import { SandboxRefusal } from '../sandbox/control.ts'
import { askSandbox, ownSandbox } from '../sandbox/own.ts'
import { SANDBOX } from '../sandbox/requests.ts'
import { type PracticeAccount, practiceAccount, replayBroker } from './practice.ts'

/** How long fills and a cancel are waited for, in steps. Prices pause for about as long at most. */
const WAIT_MS = 5_000
const LOOK_MS = 100
const AUDIT_MAX = 200
const WHY_MAX = 1_500

export interface Replay {
  readonly original: Order
  readonly order: Order
  readonly notRepeated: readonly NotRepeated[]
}

/**
 * Places the order again. What it was to meet is set before, and taken back afterwards.
 * @throws ServiceError order_not_found, order_not_repeatable, sandbox_absent, sandbox_refused, sandbox_unavailable, broker_unavailable, and
 * those of placing an order
 */
export async function replay(deps: OperatorDeps, by: OperatorCaller, orderId: OrderId): Promise<Replay> {
  ownSandbox(deps)
  const { app } = deps
  const original = await app.store.orders.find(orderId)
  if (original === null) throw new ServiceError('order_not_found', 'There is no order with this order_id.')
  const broker = replayBroker(deps, original)
  const symbols = original.legs?.map(({ symbol }) => symbol) ?? [original.symbol ?? '']
  for (const symbol of symbols) await demandKnown(deps, symbol)
  const audit = await deps.reads.auditOfOrder(orderId, AUDIT_MAX)
  const plan = planReplay(
    original,
    audit.some(({ action }) => action === 'order.cancel')
  )
  const place = await practiceAccount(deps, by, broker, original)
  const clOrdId = parseClOrdId(`replay-${app.ids.uuid().slice(-12)}`)
  await app.store.audit.append(operatorAudit(app.clock, by, 'order.replay', orderId, { broker, cl_order_id: clOrdId }))
  const { order, left } = await repeated(deps, { original, plan, place, clOrdId })
  const moved: readonly NotRepeated[] =
    broker === original.broker ? [] : [{ part: 'broker', why: `The order was at ${original.broker}; here it is at ${broker}.` }]
  const notRepeated = [...moved, ...plan.notRepeated, ...left, ...differences(original, order)]
  await linkBoth(deps, by, { original, order, notRepeated })
  return { original, order, notRepeated }
}

interface Given {
  readonly original: Order
  readonly plan: ReplayPlan
  readonly place: PracticeAccount
  readonly clOrdId: ClOrdId
}

interface Repeated {
  readonly order: Order
  readonly left: readonly NotRepeated[]
}

async function repeated(deps: OperatorDeps, given: Given): Promise<Repeated> {
  const { plan, original } = given
  const { symbol } = original
  if (plan.liquidity === null || symbol === null) return { order: await placed(deps, given), left: [] }
  const before = await askSandbox(deps, SANDBOX.clock())
  const wasPaused = before.clock.paused
  if (!wasPaused) await askSandbox(deps, SANDBOX.setMarket({ paused: true }))
  try {
    await showBook(deps, original, symbol, plan.liquidity)
    const stays = `Prices paused already, so what the replay showed of ${symbol} stays until they go on or are set.`
    return { order: await placed(deps, given), left: wasPaused ? [{ part: 'market', why: stays }] : [] }
  } finally {
    if (!wasPaused) await askSandbox(deps, SANDBOX.setMarket({ paused: false }))
  }
}

/** Only what the original traded with: nothing on the other side, so that the two sides never cross. */
async function showBook(deps: OperatorDeps, { side }: Order, symbol: string, liquidity: NonNullable<ReplayPlan['liquidity']>) {
  const isBuy = side.startsWith('BUY')
  const shown = isBuy ? { bids: [], asks: liquidity } : { bids: liquidity, asks: [] }
  await askSandbox(deps, SANDBOX.setPrice(symbol, shown))
}

async function placed(deps: OperatorDeps, { original, plan, place, clOrdId }: Given): Promise<Order> {
  const { app } = deps
  const { side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs } = original
  const terms = { side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs }
  const { account, caller } = place
  const fault = await setFault(deps, plan, place.username)
  try {
    const first = await placeOrder(app, caller, { ...terms, accountId: account.accountId, broker: account.broker, clOrdId })
    const filled = await until(deps, first, order => !isOpen(order.status) || hasFills(order, original))
    return plan.cancel === null || !isOpen(filled.status) ? filled : await cancelled(deps, plan.cancel, filled, place)
  } finally {
    if (fault !== null) await clearFault(deps, fault)
  }
}

async function setFault(deps: OperatorDeps, { fault }: ReplayPlan, username: string): Promise<string | null> {
  if (fault === null) return null
  const { do: effect, ms, message } = fault
  const set = await askSandbox(deps, SANDBOX.addFault({ on: 'orders.submit', do: effect, ms, message, times: 1, login: username }))
  return set.fault.id
}

/** One that was met is gone already. */
async function clearFault(deps: OperatorDeps, id: string): Promise<void> {
  await askSandbox(deps, SANDBOX.clearFault(id)).catch((cause: unknown) => {
    if (!(cause instanceof SandboxRefusal)) throw cause
  })
}

async function cancelled(
  deps: OperatorDeps,
  who: NonNullable<ReplayPlan['cancel']>,
  order: Order,
  { caller, account }: PracticeAccount
): Promise<Order> {
  if (who === 'service') await cancelOrder(deps.app, caller, account.accountId, order.orderId)
  else if (order.brokerOrderId !== null) await askSandbox(deps, SANDBOX.cancelOrder(order.brokerOrderId))
  return until(deps, order, present => !isOpen(present.status))
}

/** The order once it is so, or as it is after five seconds. */
async function until({ app: { store, clock } }: OperatorDeps, first: Order, isSo: (order: Order) => boolean): Promise<Order> {
  const endsAt = clock.monotonicMs() + WAIT_MS
  let order = first
  while (!isSo(order) && clock.monotonicMs() < endsAt) {
    await clock.sleep(LOOK_MS)
    order = (await store.orders.find(order.orderId)) ?? order
  }
  return order
}

function hasFills(order: Order, original: Order): boolean {
  return order.submission.state === 'acknowledged' && areEqual(filledQuantity(order), filledQuantity(original))
}

function differences(original: Order, order: Order): readonly NotRepeated[] {
  const filled = [filledQuantity(original), filledQuantity(order)] as const
  const isSame = original.status === order.status && areEqual(...filled)
  if (isSame) return []
  const [was, is] = [`${original.status}, filled ${filled[0]}`, `${order.status}, filled ${filled[1]}`]
  return [{ part: 'outcome', why: `The original is ${was}; this order is ${is} when the replay ends, and may go on.` }]
}

async function demandKnown(deps: OperatorDeps, symbol: string): Promise<void> {
  try {
    await askSandbox(deps, SANDBOX.price(symbol))
  } catch (cause) {
    if (!(cause instanceof SandboxRefusal)) throw cause
    throw new ServiceError('order_not_repeatable', `The sandbox has no ${symbol}, so the order cannot be repeated there.`, { cause })
  }
}

/** Steps of both orders. */
async function linkBoth({ app: { store, clock } }: OperatorDeps, by: OperatorCaller, { original, order, notRepeated }: Replay) {
  const why = notRepeated.map(({ why }) => why).join(' ')
  const detail = { original_order_id: original.orderId, not_repeated: why.slice(0, WHY_MAX) }
  await store.audit.append(operatorAudit(clock, by, 'order.replay_of', order.orderId, detail))
  await store.audit.append(operatorAudit(clock, by, 'order.replayed', original.orderId, { replay_order_id: order.orderId }))
}
