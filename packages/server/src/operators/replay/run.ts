// A replay: the order again, in the sandbox, by the use case that serves platforms.

import { type OperatorCaller, operatorAudit } from '@trunkline/core/app/operators/access'
import { type NotRepeated, planReplay, type ReplayPlan } from '@trunkline/core/app/operators/replay-plan'
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
import { cancelled, cleared, type Repeated, until } from './cancelling.ts'
import { type PracticeAccount, practiceAccount, replayBroker } from './practice.ts'

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
  const replayId = app.ids.uuid<OrderId>()
  await app.store.audit.append(operatorAudit(app.clock, by, 'order.replay', orderId, { broker, cl_order_id: clOrdId }))
  // Before the order exists: whatever ends this process meanwhile, the order says what it is.
  await app.store.audit.append(operatorAudit(app.clock, by, 'order.replay_of', replayId, { original_order_id: orderId }))
  const { order, left } = await repeated(deps, { original, plan, place, clOrdId, orderId: replayId })
  const moved: readonly NotRepeated[] =
    broker === original.broker ? [] : [{ part: 'broker', why: `The order was at ${original.broker}; here it is at ${broker}.` }]
  const notRepeated = [...moved, ...plan.notRepeated, ...left]
  await linkBoth(deps, by, { original, order, notRepeated })
  return { original, order, notRepeated }
}

interface Given {
  readonly original: Order
  readonly plan: ReplayPlan
  readonly place: PracticeAccount
  readonly clOrdId: ClOrdId
  readonly orderId: OrderId
}

async function repeated(deps: OperatorDeps, given: Given): Promise<Repeated> {
  const { plan, original } = given
  const { symbol } = original
  if (plan.liquidity === null || symbol === null) return await placed(deps, given)
  const [{ clock }, { quote }] = await Promise.all([askSandbox(deps, SANDBOX.clock()), askSandbox(deps, SANDBOX.price(symbol))])
  try {
    if (!clock.paused) await askSandbox(deps, SANDBOX.setMarket({ paused: true }))
    await showLiquidity(deps, original, symbol, plan.liquidity)
    const { order, left } = await placed(deps, given)
    return { order, left: [...left, ...(await pricesAgain(deps, clock.paused, quote))] }
  } catch (cause) {
    await pricesAgain(deps, clock.paused, quote)
    throw cause
  }
}

interface Best {
  readonly symbol: string
  readonly bid: string | null
  readonly bid_size: string | null
  readonly ask: string | null
  readonly ask_size: string | null
}

/** Never throws: the order is placed, and is not to be lost for the sake of prices. */
async function pricesAgain(deps: OperatorDeps, wasPaused: boolean, { symbol, ...best }: Best): Promise<readonly NotRepeated[]> {
  try {
    if (!wasPaused) {
      await askSandbox(deps, SANDBOX.setMarket({ paused: false }))
      return []
    }
    const level = (price: string | null, size: string | null) => (price === null || size === null ? [] : [[price, size]])
    await askSandbox(deps, SANDBOX.setPrice(symbol, { bids: level(best.bid, best.bid_size), asks: level(best.ask, best.ask_size) }))
    return [{ part: 'market', why: `Prices paused already. Of ${symbol}, only the best bid and ask are shown again.` }]
  } catch (cause) {
    deps.app.log.warn('the prices of the sandbox are not as they were before a replay', { symbol, cause })
    return [
      { part: 'market', why: 'The sandbox did not answer when its prices were to be as before. Look at its page, and let them come.' }
    ]
  }
}

/** Only what the original traded with: nothing on the other side, so that the two sides never cross. */
async function showLiquidity(deps: OperatorDeps, { side }: Order, symbol: string, liquidity: NonNullable<ReplayPlan['liquidity']>) {
  const isBuy = side.startsWith('BUY')
  const shown = isBuy ? { bids: [], asks: liquidity } : { bids: liquidity, asks: [] }
  await askSandbox(deps, SANDBOX.setPrice(symbol, shown))
}

async function placed(deps: OperatorDeps, { original, plan, place, clOrdId, orderId }: Given): Promise<Repeated> {
  const { app } = deps
  const { side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs } = original
  const terms = { side, type, tif, symbol, instrument, quantity, notional, limitPrice, stopPrice, legs }
  const { account, caller } = place
  const fault = await setFault(deps, plan, place.username)
  try {
    const request = { ...terms, accountId: account.accountId, broker: account.broker, clOrdId, orderId }
    const first = await placeOrder(app, caller, request)
    const reached = await until(deps, first, order => !isOpen(order.status) || isAsFarAs(order, original, plan))
    const canceller = isOpen(reached.status) ? plan.cancel : null
    const asOriginal = canceller === null ? { order: reached, left: [] } : await cancelled(deps, canceller, reached, place)
    const { order } = asOriginal
    const left = [...asOriginal.left, ...differences(original, order)]
    if (canceller !== null || !isOpen(order.status)) return { order, left }
    const ended = await cleared(deps, order, place)
    return { order: ended.order, left: [...left, ...ended.left] }
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

/** One that was met is gone already. Never throws: it hits nobody but the practice user of replays. */
async function clearFault(deps: OperatorDeps, id: string): Promise<void> {
  await askSandbox(deps, SANDBOX.clearFault(id)).catch((cause: unknown) => {
    if (!(cause instanceof SandboxRefusal)) deps.app.log.warn('a fault of a replay may still be set in the sandbox', { fault: id, cause })
  })
}

/**
 * Its fills are there, and the broker has accepted it, if it had accepted the original. Where the original was rejected by the broker,
 * only an end is as far: before it, the order looks like one that works.
 */
function isAsFarAs(order: Order, original: Order, { fault }: ReplayPlan): boolean {
  if (fault?.do === 'refuse' || fault?.do === 'refuse_later') return false
  const isKnown = order.submission.state === 'acknowledged' && (order.status !== 'pending' || original.status === 'pending')
  const isFilled = original.status !== 'filled' || order.status === 'filled'
  return isKnown && isFilled && areEqual(filledQuantity(order), filledQuantity(original))
}

function differences(original: Order, order: Order): readonly NotRepeated[] {
  const filled = [filledQuantity(original), filledQuantity(order)] as const
  const isSame = original.status === order.status && areEqual(...filled)
  if (isSame) return []
  const [was, is] = [`${original.status}, filled ${filled[0]}`, `${order.status}, filled ${filled[1]}`]
  return [{ part: 'outcome', why: `The original is ${was}; this order is ${is} when the replay ends.` }]
}

async function demandKnown(deps: OperatorDeps, symbol: string): Promise<void> {
  try {
    await askSandbox(deps, SANDBOX.price(symbol))
  } catch (cause) {
    if (!(cause instanceof SandboxRefusal)) throw cause
    throw new ServiceError('order_not_repeatable', `The sandbox has no ${symbol}, so the order cannot be repeated there.`, { cause })
  }
}

/** Names each of the two at the other, once it is known what was not repeated. */
async function linkBoth({ app: { store, clock } }: OperatorDeps, by: OperatorCaller, { original, order, notRepeated }: Replay) {
  const why = notRepeated.map(({ why }) => why).join(' ')
  const detail = { original_order_id: original.orderId, not_repeated: why.slice(0, WHY_MAX) }
  await store.audit.append(operatorAudit(clock, by, 'order.replay_of', order.orderId, detail))
  await store.audit.append(operatorAudit(clock, by, 'order.replayed', original.orderId, { replay_order_id: order.orderId }))
}
