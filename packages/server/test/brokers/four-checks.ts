// What must hold once everything is healed: every record of every connection agrees with the sandbox's own state.
import { listBalances, listPositions } from '@trunkline/core/app/accounts/read-holdings'
import { compare, dividedBy, isPositive, minus, negated, parseDecimal, plus, sum, times, ZERO } from '@trunkline/core/domain/decimal'
import type { Order } from '@trunkline/core/domain/order'
import { averageFillPrice, filledQuantity } from '@trunkline/core/domain/order-machine'
import { digitsOf, uuidOf } from '@trunkline/sandbox/brokerage/order-ids'
import type { FourWorld, Json, Through } from './four-world.ts'

/** An order of the sandbox's and those that amended it, in their order. */
export type Chain = readonly Json[]

/** The broker keeps an order's id through its changes. */
const IN_PLACE = new Set(['TRADIER', 'TRADESTATION'])
const STATUS: Readonly<Record<string, string>> = {
  held: 'working',
  open: 'working',
  partial: 'partially_filled',
  done: 'filled',
  cancelled: 'cancelled',
  lapsed: 'expired',
  refused: 'rejected',
  superseded: 'replaced'
}
/** An order seen after it was reported as never received, and more filled than was asked for. */
const NEVER = ['late_sighting', 'overfill'] as const
const CENT_PARTS = parseDecimal('0.0001', 'tolerance')
const PAGE = 500

/** Everything that differs from the sandbox; empty when all is well. */
export async function complaints(world: FourWorld): Promise<readonly string[]> {
  const sandboxState = await readSandbox(world)
  const orders = await world.orders()
  const found: string[] = []
  for (const through of world.through) {
    const own = orders.filter(({ connectionId }) => connectionId === through.connection.connectionId)
    found.push(...(IN_PLACE.has(through.broker) ? inPlaceComplaints : plainComplaints)(through, sandboxState.chains, own))
    found.push(...recordComplaints(through, own))
    found.push(...(await arrivals(world, through, own)))
    found.push(...(await moneyComplaints(world, through, sandboxState)))
    for (const alarm of NEVER)
      if (world.counted.has(`order_alarms_total ${through.broker} ${alarm}`)) found.push(`${through.broker}: the alarm ${alarm} was raised`)
    const stored = await world.status(through.connection)
    if (stored?.status !== 'ACTIVE') found.push(`${through.broker}: the connection is ${stored?.status} ${stored?.brokenReason}`)
  }
  return found
}

interface SandboxState {
  readonly chains: readonly Chain[]
  readonly positions: ReadonlyMap<string, string>
  readonly cash: string
}

async function readSandbox(world: FourWorld): Promise<SandboxState> {
  const { access_token: token } = await world.control('POST', `/logins/${world.username}/token`, {})
  const get = async (path: string): Promise<Json> => {
    const answer = await fetch(`${world.sandbox.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
    if (!answer.ok) throw new Error(`the sandbox answers ${answer.status} to ${path}: ${await answer.text()}`)
    return await answer.json()
  }
  const orders: Json[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Json = await get(`/orders?state=all&limit=${PAGE}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
    orders.push(...page.items)
    cursor = page.next
  }
  const byId = new Map(orders.map(order => [order.id, order]))
  const chainOf = (root: Json): Chain => {
    const chain = [root]
    for (let next = byId.get(root.amended_by); next !== undefined; next = byId.get(next.amended_by)) chain.push(next)
    return chain
  }
  const positions = (await get('/positions')).items
  const [balance] = (await get('/balances')).items
  return {
    chains: orders.filter(({ amends }) => amends === null || !byId.has(amends)).map(chainOf),
    positions: new Map(positions.map(({ symbol, quantity }: Json) => [symbol, quantity])),
    cash: balance.cash
  }
}

/** Every order of the sandbox has an id of its own at the broker, and exactly one record. */
function plainComplaints({ broker }: Through, chains: readonly Chain[], own: readonly Order[]): readonly string[] {
  const idOf = (id: string) => (broker === 'ALPACA' ? uuidOf(id) : id)
  const known = new Map(chains.flat().map(order => [idOf(order.id), order]))
  const found: string[] = []
  for (const [id, order] of known) {
    // A replacement that took its time has another id at Alpaca: the one that was promised.
    const records = own.filter(({ brokerOrderId, brokerClOrdId }) => brokerOrderId === id || brokerClOrdId === order.client_order_id)
    const [record] = records
    // An order that the sandbox refused may be reported by its refusal alone.
    if (order.state === 'refused' && records.length === 0) continue
    if (record === undefined || records.length > 1) found.push(`${broker}: ${records.length} records of ${described(order)}`)
    else
      found.push(
        ...differences(broker, record, {
          status: STATUS[order.state] ?? '',
          fills: order.fills,
          quantity: quantityAt(broker, order, record, own)
        })
      )
  }
  const names = new Set(chains.flat().map(order => order.client_order_id))
  return [
    ...found,
    ...unknownIds(
      broker,
      own.filter(({ brokerClOrdId }) => !names.has(brokerClOrdId)),
      new Set(known.keys())
    )
  ]
}

/**
 * At Alpaca a replacement begins again: what was filled before it is part of its quantity only as far as the orders before it are ours to
 * show.
 */
function quantityAt(broker: string, { quantity, carried }: Json, record: Order, own: readonly Order[]): string | null {
  if (broker !== 'ALPACA' || quantity === null) return quantity
  let total = minus(parseDecimal(quantity, 'quantity'), parseDecimal(carried, 'carried'))
  for (let before = predecessorOf(record, own); before !== undefined; before = predecessorOf(before, own))
    total = plus(total, filledQuantity(before))
  return total
}

function predecessorOf({ replacesOrderId }: Order, own: readonly Order[]): Order | undefined {
  return own.find(({ orderId }) => orderId === replacesOrderId)
}

/** An order and its amendments have one id; ours are one record each, and share the fills. */
function inPlaceComplaints({ broker }: Through, chains: readonly Chain[], own: readonly Order[]): readonly string[] {
  const found: string[] = []
  const known = new Set<string>()
  for (const chain of chains) {
    const [root, last] = [chain[0], chain.at(-1)]
    const id = digitsOf(root.id)
    known.add(id)
    const records = own.filter(({ brokerOrderId }) => brokerOrderId === id)
    if (root.state === 'refused' && records.length === 0) continue
    const [present, ...others] = records.filter(({ status, replacedByOrderId }) => status !== 'replaced' || replacedByOrderId === null)
    if (present === undefined || others.length > 0) {
      found.push(`${broker}: ${records.map(({ status }) => status).join(' and ') || 'no record'} of ${described(last)}`)
      continue
    }
    const fills = chain.flatMap(order => order.fills)
    const all: Order = { ...present, fills: records.flatMap(record => record.fills) }
    const status = last.state === 'open' && present.fills.length > 0 ? 'partially_filled' : (STATUS[last.state] ?? '')
    const isPart = status === 'partially_filled' && present.fills.length === 0
    found.push(...differences(broker, all, { status: isPart ? 'working' : status, fills, quantity: last.quantity }))
  }
  return [...found, ...unknownIds(broker, own, known)]
}

function unknownIds(broker: string, own: readonly Order[], known: ReadonlySet<string>): readonly string[] {
  return own
    .filter(({ brokerOrderId }) => brokerOrderId !== null && !known.has(brokerOrderId))
    .map(order => `${broker}: ${shown(order)} is no order of the sandbox's`)
}

interface Truth {
  readonly status: string
  readonly fills: readonly { readonly quantity: string; readonly price: string }[]
  readonly quantity: string | null
}

function differences(broker: string, record: Order, { status, fills, quantity }: Truth): readonly string[] {
  const done = fills.map(fill => ({ quantity: parseDecimal(fill.quantity, 'q'), price: parseDecimal(fill.price, 'p') }))
  const filled = sum(done.map(fill => fill.quantity))
  const found: string[] = []
  if (record.status !== status) found.push(`${broker}: ${shown(record)} should be ${status}`)
  if (compare(filledQuantity(record), filled) !== 0) found.push(`${broker}: ${shown(record)} should have filled ${filled}`)
  const average = isPositive(filled) ? dividedBy(sum(done.map(fill => times(fill.quantity, fill.price))), filled, 9) : null
  const reported = averageFillPrice(record)
  // A multi-leg order that is sold in one broker's protocol is bought at a negative price in another's.
  const isRight =
    average === null || reported === null || isNear(average, reported) || (record.legs !== null && isNear(average, negated(reported)))
  if (!isRight) found.push(`${broker}: ${shown(record)} filled at ${reported}, not ${average}`)
  if (quantity !== null && record.quantity !== null && compare(parseDecimal(quantity, 'q'), record.quantity) !== 0)
    found.push(`${broker}: ${shown(record)} is for ${record.quantity}, not ${quantity}`)
  return found
}

function isNear(a: Order['quantity'] & string, b: Order['quantity'] & string): boolean {
  const apart = minus(a, b)
  return compare(apart, CENT_PARTS) <= 0 && compare(minus(ZERO, apart), CENT_PARTS) <= 0
}

/** What no record may have, whatever the sandbox has. */
function recordComplaints({ broker }: Through, own: readonly Order[]): readonly string[] {
  const found: string[] = []
  for (const order of own) {
    if (order.quantity !== null && compare(filledQuantity(order), order.quantity) > 0)
      found.push(`${broker}: ${shown(order)} is overfilled`)
    if (order.submission.attempts > 1) found.push(`${broker}: ${shown(order)} was sent ${order.submission.attempts} times`)
    const isLostForGood = broker === 'TRADESTATION' && order.submission.state === 'unknown'
    if (order.pendingRequest !== null && !isLostForGood)
      found.push(`${broker}: ${shown(order)} still waits for its ${order.pendingRequest.kind}`)
    if (order.status === 'replaced' && order.submission.state !== 'external' && order.replacedByOrderId !== null)
      if (!own.some(({ orderId }) => orderId === order.replacedByOrderId)) found.push(`${broker}: ${shown(order)} has an unknown successor`)
  }
  return found
}

/** Orders that are bound to none of the broker's must not be there, and none may have reached it twice. */
async function arrivals(world: FourWorld, { broker }: Through, own: readonly Order[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const order of own) {
    const { submission, brokerClOrdId, brokerOrderId, status } = order
    if (submission.state === 'external') continue
    const { received, orders } = await world.control('GET', `/orders?client_order_id=${encodeURIComponent(brokerClOrdId)}`)
    if (received > 1) found.push(`${broker}: ${shown(order)} reached the sandbox ${received} times`)
    if (brokerOrderId !== null) continue
    // One without a name that somebody else has changed before it was known again cannot be distinguished from another's any more.
    const isIndistinguishable = (state: string) => broker === 'TRADESTATION' && submission.state === 'unknown' && state === 'superseded'
    const living = orders.filter(({ state }: Json) => state !== 'refused' && !isIndistinguishable(state))
    if (living.length > 0) found.push(`${broker}: ${shown(order)} is ${described(living[0])}`)
    if (status !== 'rejected' && !(broker === 'TRADESTATION' && submission.state === 'unknown'))
      found.push(`${broker}: ${shown(order)} has come to no end`)
  }
  return found
}

async function moneyComplaints(
  world: FourWorld,
  { broker, account }: Through,
  { positions, cash }: SandboxState
): Promise<readonly string[]> {
  const scope = { accountId: account.accountId }
  const found: string[] = []
  const { rows: held } = await listPositions(world.app, world.caller, scope, null)
  const shownHeld = new Map(held.map(({ position }) => [position.symbol, position.quantity]))
  for (const symbol of new Set([...positions.keys(), ...shownHeld.keys()])) {
    const [sandbox, ours] = [parseDecimal(positions.get(symbol) ?? '0', 'q'), shownHeld.get(symbol) ?? ZERO]
    if (compare(sandbox, ours) !== 0) found.push(`${broker}: ${ours} ${symbol} are held, not ${sandbox}`)
  }
  const [balance] = (await listBalances(world.app, world.caller, scope)).rows
  const shownCash = balance?.balance.cash ?? null
  if (shownCash === null || compare(shownCash, parseDecimal(Number(cash).toFixed(2), 'cash')) !== 0) {
    if (shownCash === null || Math.abs(Number(shownCash) - Number(cash)) > 0.011) found.push(`${broker}: cash is ${shownCash}, not ${cash}`)
  }
  return found
}

export function shown(order: Order): string {
  const { orderId, side, quantity, symbol, type, limitPrice, status, submission, brokerOrderId } = order
  const fills = order.fills.map(fill => `${fill.quantity}@${fill.price}${fill.inferred ? '?' : ''}`).join(',')
  const terms = `${side} ${quantity} ${symbol ?? order.legs?.length} ${type} ${limitPrice ?? ''}`
  const ids = `${orderId.slice(-6)} ${brokerOrderId === null ? '' : `b${brokerOrderId.slice(-6)}`}`
  const links = `${order.replacesOrderId === null ? '' : ` replaces ${order.replacesOrderId.slice(-6)}`}${order.replacedByOrderId === null ? '' : ` replaced by ${order.replacedByOrderId.slice(-6)}`}`
  return `[${ids} ${terms} ${status}/${submission.state} filled ${fills || 0}${links}]`
}

function described({ id, client_order_id, direction, quantity, symbol, kind, limit, state, filled }: Json): string {
  return `sandbox order ${id} ${client_order_id} ${direction} ${quantity} ${symbol} ${kind} ${limit ?? ''} ${state} filled ${filled}`
}
