/** How a recording of Alpaca is put through its adapter. */

import { parseDay } from '@trunkline/core/domain/timestamp'
import type { NewOrder, OrderReport } from '@trunkline/core/ports/broker'
import type { WebSocket } from 'ws'
import { marketFacts } from './alpaca-market.ts'
import { AccountEvents } from './collect.ts'
import { balanceFacts, bookedFills, type Facts, faultFacts, orderFacts, outcomeFacts, positionFacts, transactionFacts } from './facts.ts'
import { type Json, type Recording, recordedTime, type Step, written } from './load.ts'
import { orFault } from './reads.ts'
import { pathOf, Replay, reply } from './replay.ts'
import { LONG_AGO, signal, TICKET } from './ticket.ts'

/** It lasts: there is nothing to refresh it with. */
export const TOKEN = { access_token: 'token-1' }
const ACCOUNT = '00000000-0000-4000-8000-000000000001'
const PLAIN = {
  symbol: 'KO',
  asset_class: 'us_equity',
  side: 'buy',
  type: 'limit',
  time_in_force: 'day',
  status: 'new',
  qty: '1',
  limit_price: '79'
}
const EVER = { from: parseDay('2000-01-01', 'from'), to: parseDay('2099-12-31', 'to') }

/** What the adapter concludes, by the keys of `expected`. */
export async function alpacaFacts(recording: Recording): Promise<Facts> {
  const [first] = recording.steps
  const path = pathOf(first?.path ?? '')
  const market = await marketFacts(recording, path)
  if (market !== null) return market
  await using replay = await opened()
  if (first?.method === 'WS') return await streamFacts(replay, recording)
  const each: Facts[] = []
  for (const step of recording.steps) each.push(await stepFacts(replay, step, recording))
  const last = each.at(-1) ?? {}
  return { order: last, ...last, after_each: each }
}

async function opened(): Promise<Replay> {
  const replay = await Replay.open('ALPACA', TOKEN)
  replay.on('GET /v2/account', reply({ id: ACCOUNT, account_number: 'PA1', status: 'ACTIVE', currency: 'USD', multiplier: '4' }))
  replay.on('GET /v2/positions', reply([]))
  return replay
}

async function stepFacts(replay: Replay, step: Step, recording: Recording): Promise<Facts> {
  const { method, path } = step
  const asked = `${method} ${pathOf(path ?? '')}`
  if (asked === 'GET /v2/account') return await accountFacts(replay, step)
  if (asked === 'GET /v2/positions') return await positionsFacts(replay, step)
  if (asked.startsWith('GET /v2/account/activities')) return await orFault(() => activitiesFacts(replay, step))
  if (asked === 'GET /v2/orders') return await orFault(() => listFacts(replay, step, recording))
  if (asked.startsWith('GET /v2/orders')) return await foundFacts(replay, step, recording)
  if (asked === 'POST /v2/orders') return await placeFacts(replay, step, recording)
  if (asked.startsWith('PATCH /v2/orders/')) return await replaceFacts(replay, step, recording)
  if (asked.startsWith('DELETE /v2/orders/')) return await cancelFacts(replay, step)
  return {}
}

async function accountFacts(replay: Replay, { status, body }: Step): Promise<Facts> {
  replay.on('GET /v2/account', { status: status ?? 200, body })
  try {
    const [account] = (await replay.broker.accounts(signal())).items
    const balances = await replay.broker.balances(account?.brokerAccountId ?? '', signal())
    return { accounts: [account], balance: balances.items.map(balanceFacts)[0] }
  } catch (error) {
    const asked = replay.seen('GET /v2/account').length
    return { ...faultFacts(error), confirm_once_with: asked > 1 ? 'GET /v2/account' : null }
  }
}

async function positionsFacts(replay: Replay, { status, body }: Step): Promise<Facts> {
  replay.on('GET /v2/positions', { status: status ?? 200, body })
  try {
    const { items } = await replay.broker.positions(ACCOUNT, signal())
    return { positions: items.map(positionFacts) }
  } catch (error) {
    return faultFacts(error)
  }
}

/** Rows of one id count once, as for a reader that keys by it. */
async function activitiesFacts(replay: Replay, { status, body }: Step): Promise<Facts> {
  replay.on('GET /v2/account/activities', ({ query }) => (query.has('page_token') ? reply([]) : { status: status ?? 200, body }))
  const { items } = await replay.broker.transactions(ACCOUNT, EVER.from, EVER.to, signal())
  const rows = [...new Map(items.map(item => [item.brokerTransactionId, item])).values()]
  const fills = rows.filter(({ brokerType }) => brokerType === 'FILL').map(transactionFacts)
  return { transactions: rows.map(transactionFacts), fills, first: fills[0] ?? rows.map(transactionFacts)[0] }
}

/** A list without nesting has the orders that hang on others as rows of their own. */
async function listFacts(replay: Replay, step: Step, recording: Recording): Promise<Facts> {
  if (!Array.isArray(step.payload)) replay.on('GET /v2/orders', { status: step.status ?? 200, body: step.body })
  const nested: Json = [step.payload].flat().map((order: Json) => completed(order, recording))
  const rows: Json = nested.flatMap((order: Json) => [{ ...order, legs: null }, ...(order.legs ?? [])])
  replay.on(Array.isArray(step.payload) ? 'GET /v2/orders' : 'GET /v2/never', ({ query }) => {
    if (query.has('after_order_id') || query.get('status') !== 'open') return reply([])
    return { status: step.status ?? 200, body: written(query.get('nested') === 'true' ? nested : rows) }
  })
  const { items } = await replay.broker.orders(ACCOUNT, LONG_AGO, signal())
  const orders = items.map(report => orderFacts(report))
  return { orders, normalized_status: orders.map(order => order.normalized_status), instrument: orders.map(order => order.instrument) }
}

async function foundFacts(replay: Replay, step: Step, recording: Recording): Promise<Facts> {
  try {
    const report = await found(replay, step, recording)
    return report === null ? { fault: 'absent', credential_rejected: false, connection: 'ACTIVE', retry: false } : orderFacts(report)
  } catch (error) {
    return faultFacts(error)
  }
}

async function found(replay: Replay, step: Step, recording: Recording): Promise<OrderReport | null> {
  const body = step.payload?.id === undefined ? step.body : written(completed(step.payload, recording))
  const id: string =
    step.payload?.id ??
    pathOf(step.path ?? '')
      .split('/')
      .at(-1)
  replay.on('GET /v2/orders/*', { status: step.status ?? 200, body })
  return (await replay.broker.findOrder({ by: 'brokerOrderId', brokerAccountId: ACCOUNT, brokerOrderId: id }, signal())).found
}

/** Sends the very order that the answer is about; where the answer is a refusal, some order. */
async function placeFacts(replay: Replay, step: Step, recording: Recording): Promise<Facts> {
  const { status, body, payload } = step
  const isOrder = payload?.id !== undefined
  const report = isOrder ? await found(replay, { ...step, status: 200 }, recording) : null
  const order: NewOrder = { ...(report ?? TICKET), brokerAccountId: ACCOUNT, brokerClOrdId: report?.brokerClOrdId ?? 'client-1' }
  replay.on('POST /v2/orders', { status: status ?? 200, body: isOrder ? written(completed(payload, recording)) : body })
  return outcomeFacts(await replay.broker.submit(order, signal()))
}

async function replaceFacts(replay: Replay, step: Step, recording: Recording): Promise<Facts> {
  const { path, status, body, payload } = step
  const isOrder = payload?.id !== undefined
  const ticket = isOrder ? await found(replay, { ...step, status: 200 }, recording) : null
  const brokerOrderId =
    pathOf(path ?? '')
      .split('/')
      .at(-1) ?? ''
  const before = { ...PLAIN, id: brokerOrderId }
  const shown = (order: Json) => reply(completed(order, recording))
  replay.on('GET /v2/orders/*', shown(before))
  replay.on('PATCH /v2/orders/*', () => {
    if (!isOrder) return { status: status ?? 200, body }
    replay.on('GET /v2/orders/*', shown({ ...before, status: 'replaced', replaced_by: payload.id }))
    replay.on(`GET /v2/orders/${payload.id}`, { status: 200, body: written(completed(payload, recording)) })
    return { status: status ?? 200, body: written(completed(payload, recording)) }
  })
  const change = { brokerAccountId: ACCOUNT, brokerOrderId, brokerClOrdId: ticket?.brokerClOrdId ?? 'client-2', ticket: ticket ?? TICKET }
  const outcome = await replay.broker.replace(change, signal())
  const facts = outcomeFacts(outcome, outcome.kind === 'accepted' && outcome.value === null ? { normalized_status: 'pending_replace' } : {})
  return outcome.kind === 'accepted'
    ? facts
    : { ...facts, normalized_status: 'unchanged', old_order: 'unchanged', replacement: outcome.kind }
}

async function cancelFacts(replay: Replay, { path, status, body }: Step): Promise<Facts> {
  replay.on('DELETE /v2/orders/*', { status: status ?? 204, body })
  const brokerOrderId =
    pathOf(path ?? '')
      .split('/')
      .at(-1) ?? ''
  const outcome = await replay.broker.cancel({ brokerAccountId: ACCOUNT, brokerOrderId }, signal())
  const facts = outcomeFacts(outcome, { normalized_status: 'pending_cancel' })
  // A refused cancel says nothing of the order's state.
  return outcome.kind === 'accepted' ? facts : { ...facts, normalized_status: 'unchanged', old_order: 'unchanged' }
}

/** The account stream: frames of the login stand for ours, and the others follow one by one. */
async function streamFacts(replay: Replay, { steps, isSequence }: Recording): Promise<Facts> {
  const ofLogin = (stream: string) => steps.find(({ payload }) => payload.stream === stream)?.body
  let socket: WebSocket | null = null
  let streams: readonly string[] = []
  replay.onSocket((text, client) => {
    const message: Json = JSON.parse(text)
    if (message.action === 'listen') {
      streams = message.data.streams
      client.send(ofLogin('listening') ?? JSON.stringify({ stream: 'listening', data: { streams } }))
      socket = client
    } else
      client.send(
        ofLogin('authorization') ?? JSON.stringify({ stream: 'authorization', data: { action: message.action, status: 'authorized' } })
      )
  })
  await using events = new AccountEvents(replay.broker)
  await events.live()
  const each: Facts[] = []
  for (const { body, payload } of steps) {
    if (payload.stream === 'authorization') each.push({ authenticated: streams.length > 0, notice: isLogged(replay, payload.data.message) })
    else if (payload.stream === 'listening') each.push({ listening: events.isLive ? streams : [] })
    else {
      await events.after(() => socket?.send(body))
      each.push(reportFacts(events.reports))
    }
  }
  return isSequence ? { ...each.at(-1), order: each.at(-1), after_each: each } : { ...each[0], order: each[0] }
}

function reportFacts(reports: readonly OrderReport[]): Facts {
  const last = reports.at(-1)
  return last === undefined ? {} : orderFacts(last, bookedFills(reports))
}

function isLogged(replay: Replay, message: string): boolean {
  return replay.log.lines.some(({ fields }) => Object.values(fields).some(value => String(value).startsWith(message.slice(0, 40))))
}

/** Some sources kept a part of an order's fields only: the others are as on an order that nothing has happened to. */
function completed(order: Json, recording: Recording): Json {
  const at = recordedTime(recording)
  const times = { created_at: at, updated_at: at, submitted_at: at }
  const none = { client_order_id: `client-${order.id}`, notional: null, filled_qty: '0', filled_avg_price: null, extended_hours: false }
  const legs = order.legs?.map((leg: Json) => completed(leg, recording)) ?? null
  return { ...times, ...none, ...order, legs }
}
