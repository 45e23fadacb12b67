/** How a recording of Tradier is put through its adapter. */

import { parseDay } from '@trunkline/core/domain/timestamp'
import type { NewOrder } from '@trunkline/core/ports/broker'
import { type Facts, faultFacts, orderFacts, outcomeFacts, previewFacts, transactionFacts } from './facts.ts'
import { type Json, numberIn, type Recording, recordedTime, type Step, written } from './load.ts'
import { accountsOf, balancesOf, orFault, positionsOf } from './reads.ts'
import { pathOf, Replay, reply } from './replay.ts'
import { LONG_AGO, signal, TICKET } from './ticket.ts'
import { eventsFacts } from './tradier-events.ts'
import { clockFacts, marketFacts, quotesFacts, streamFacts } from './tradier-market.ts'

const EVER = { from: parseDay('2000-01-01', 'from'), to: parseDay('2099-12-31', 'to') }
const SOME_ACCOUNT = '6YA00001'

/** What the adapter concludes, by the keys of `expected`. */
export async function tradierFacts(recording: Recording): Promise<Facts> {
  const [first] = recording.steps
  if (first === undefined) return {}
  const path = pathOf(first.path ?? '')
  if (first.payload?.fault !== undefined) return await faultyFacts(first)
  if (first.path === null) return first.payload?.event === undefined ? await streamFacts(recording.steps) : await eventsFacts(recording)
  if (path === '/v1/markets/clock') return await clockFacts(first)
  if (path === '/v1/markets/quotes') return await quotesFacts(first)
  const market = await marketFacts(first, path)
  if (market !== null) return market
  const account = /\/accounts\/([A-Z0-9]+)\//.exec(path)?.[1] ?? SOME_ACCOUNT
  await using replay = await opened(account)
  const stage: Stage = { replay, account, recording }
  const { before } = recording.expected
  const each: Facts[] = []
  for (const step of recording.steps) each.push(await stepFacts(stage, step))
  const last = each.at(-1) ?? {}
  return { order: last, ...last, after_each: each, ...(before === undefined ? {} : { before: await beforeFacts(stage, before) }) }
}

interface Stage {
  readonly replay: Replay
  readonly account: string
  readonly recording: Recording
}

export async function opened(account: string): Promise<Replay> {
  const replay = await Replay.open('TRADIER')
  const profile = { account_number: account, type: 'margin', status: 'active', classification: 'individual' }
  replay.on('GET /v1/user/profile', reply({ profile: { account: [profile] } }))
  replay.on('GET /v1/accounts/*', ({ path }) => reply(path.includes('/positions') ? { positions: 'null' } : { orders: 'null' }))
  return replay
}

async function stepFacts(stage: Stage, step: Step): Promise<Facts> {
  const { method, path } = step
  const asked = `${method} ${pathOf(path ?? '')}`
  if (asked.endsWith('/history')) return await orFault(() => historyFacts(stage, step))
  if (asked === 'GET /v1/user/orders') return await usersFacts(stage, step)
  if (asked === 'GET /v1/user/profile' || /^GET .*\/(?:balances|positions)$/.test(asked)) return await readFacts(stage, step, asked)
  if (/^GET .*\/orders$/.test(asked)) return await orFault(() => listFacts(stage, step))
  if (asked.startsWith('GET ')) return await foundFacts(stage, step)
  if (asked.startsWith('DELETE ')) return await cancelFacts(stage, step)
  if (asked.startsWith('PUT ')) return await replaceFacts(stage, step)
  return path?.includes('preview=true') === true ? await previewed(stage, step) : await placeFacts(stage, step)
}

async function readFacts({ replay, account }: Stage, { status, body }: Step, asked: string): Promise<Facts> {
  replay.on(asked.replace(/\{[^}]*\}/, account), { status: status ?? 200, body })
  if (asked.endsWith('/profile')) return await accountsOf(replay.broker)
  return asked.endsWith('/balances') ? await balancesOf(replay.broker, account) : await positionsOf(replay.broker, account)
}

async function historyFacts({ replay, account }: Stage, { status, body }: Step): Promise<Facts> {
  const pages = ({ query }: { readonly query: URLSearchParams }) =>
    Number(query.get('page') ?? 1) > 1 ? reply({ history: 'null' }) : { status: status ?? 200, body }
  replay.on(`GET /v1/accounts/${account}/history`, pages)
  const { items } = await replay.broker.transactions(account, EVER.from, EVER.to, signal())
  return { transactions: items.map(transactionFacts) }
}

/** Of each account of the answer its own list. */
async function usersFacts({ replay }: Stage, { payload, status }: Step): Promise<Facts> {
  const accounts: readonly Json[] = [payload.accounts.account].flat()
  const orders: Facts[] = []
  for (const { account_number: account, orders: own } of accounts) {
    replay.on(`GET /v1/accounts/${account}/orders`, { status: status ?? 200, body: written({ orders: own }) })
    const { items } = await replay.broker.orders(account, LONG_AGO, signal())
    orders.push(...items.map(report => orderFacts(report)))
  }
  return { orders, accounts }
}

/** Where only measured values of a list are recorded, its rows are made of them. */
async function listFacts({ replay, account, recording }: Stage, step: Step): Promise<Facts> {
  const rows = madeRows(step.payload?.measured, recording)
  const body = rows === null ? step.body : written({ orders: { order: rows } })
  replay.on(`GET /v1/accounts/${account}/orders`, { status: step.status ?? 200, body })
  const { items } = await replay.broker.orders(account, LONG_AGO, signal())
  const asked = replay.seen(`GET /v1/accounts/${account}/orders`).length
  const orders = items.map(report => orderFacts(report))
  return { ...orders[0], orders, complete: asked <= 2 && items.length === (rows?.length ?? items.length) }
}

function madeRows(measured: Json, recording: Recording): readonly Json[] | null {
  if (measured === undefined) return null
  if (measured.id !== undefined)
    return [row({ id: measured.id, status: measured.status, tag: measured.tag, create_date: measured.create_date }, recording)]
  return Array.from({ length: Number(numberIn(measured.rows ?? 0)) }, (_, index) =>
    row({ id: 38_000_000 + index, create_date: measured.oldest_create_date }, recording)
  )
}

/** An order that nothing has happened to, but what is stated. Where that is that it filled, the quantities that were not kept show it. */
export function row(stated: Json, recording: Recording): Json {
  const at = recordedTime(recording)
  const terms = { type: 'limit', symbol: 'KO', side: 'buy', quantity: 1, status: 'open', duration: 'day', price: 80, class: 'equity' }
  const nothing = { avg_fill_price: 0, exec_quantity: 0, last_fill_price: 0, last_fill_quantity: 0, remaining_quantity: 1 }
  const whole = { exec_quantity: 1, avg_fill_price: 80, last_fill_quantity: 1, last_fill_price: 80, remaining_quantity: 0 }
  return { ...terms, ...(stated.status === 'filled' ? whole : nothing), create_date: at, transaction_date: at, ...stated }
}

async function foundFacts(stage: Stage, step: Step): Promise<Facts> {
  const id =
    pathOf(step.path ?? '')
      .split('/')
      .at(-1) ?? ''
  stage.replay.on(`GET /v1/accounts/${stage.account}/orders/${id}`, { status: step.status ?? 200, body: step.body })
  return await lookedUp(stage, id)
}

async function lookedUp({ replay, account }: Stage, brokerOrderId: string): Promise<Facts> {
  try {
    const { found } = await replay.broker.findOrder({ by: 'brokerOrderId', brokerAccountId: account, brokerOrderId }, signal())
    return found === null ? { fault: 'absent', credential_rejected: false, connection: 'ACTIVE', retry: false } : orderFacts(found)
  } catch (error) {
    return faultFacts(error)
  }
}

async function beforeFacts(stage: Stage, { broker_status: status }: Json): Promise<Facts> {
  const order = row({ id: 1, status }, stage.recording)
  stage.replay.on(`GET /v1/accounts/${stage.account}/orders/1`, { status: 200, body: written({ order }) })
  return await lookedUp(stage, '1')
}

/** A refused cancel that names the order's state is followed by a look at the order, which then shows that state. */
async function cancelFacts(stage: Stage, { path, status, body }: Step): Promise<Facts> {
  const { replay, account, recording } = stage
  const asked = pathOf(path ?? '')
  const brokerOrderId = asked.split('/').at(-1) ?? ''
  replay.on(`DELETE ${asked}`, { status: status ?? 200, body })
  const outcome = await replay.broker.cancel({ brokerAccountId: account, brokerOrderId }, signal())
  const facts = outcomeFacts(outcome, { normalized_status: 'pending_cancel' })
  const state = /state: (\w+)/.exec(body)?.[1]
  if (outcome.kind === 'accepted' || state === undefined) return facts
  replay.on(`GET ${asked}`, { status: 200, body: written({ order: row({ id: Number(brokerOrderId), status: state }, recording) }) })
  return { ...facts, normalized_status: (await lookedUp(stage, brokerOrderId)).normalized_status }
}

/** Of a change that was not accepted nothing is known but the order before it. */
async function replaceFacts({ replay, account, recording }: Stage, { path, status, body }: Step): Promise<Facts> {
  const brokerOrderId =
    pathOf(path ?? '')
      .split('/')
      .at(-1) ?? ''
  const id = /^\d+$/.test(brokerOrderId) ? brokerOrderId : '900000001'
  replay.on('PUT /v1/accounts/*', { status: status ?? 200, body })
  const order = row({ id: Number(id), price: 79 }, recording)
  replay.on(`GET /v1/accounts/${account}/orders/${id}`, { status: 200, body: written({ order }) })
  const change = { brokerAccountId: account, brokerOrderId: id, brokerClOrdId: 'client2', ticket: TICKET }
  const outcome = await replay.broker.replace(change, signal())
  const facts = outcomeFacts(outcome, { normalized_status: 'pending_replace' })
  return outcome.kind === 'accepted'
    ? facts
    : { ...facts, normalized_status: 'unchanged', old_order: 'unchanged', replacement: outcome.kind }
}

async function placeFacts({ replay, account }: Stage, { status, body }: Step): Promise<Facts> {
  replay.on(`POST /v1/accounts/${account}/orders`, { status: status ?? 200, body })
  return outcomeFacts(await replay.broker.submit(orderOf(account), signal()))
}

async function previewed({ replay, account }: Stage, { status, body }: Step): Promise<Facts> {
  replay.on(`POST /v1/accounts/${account}/orders`, { status: status ?? 200, body })
  try {
    return previewFacts(await replay.broker.preview({ ...TICKET, brokerAccountId: account }, signal()))
  } catch (error) {
    return faultFacts(error)
  }
}

function orderOf(brokerAccountId: string): NewOrder {
  return { ...TICKET, brokerAccountId, brokerClOrdId: 'client1' }
}

/** A gateway's fault in place of any answer: of a read, which may renew the token, and of an order. */
async function faultyFacts({ status, body }: Step): Promise<Facts> {
  const answer = { status: status ?? 500, body }
  await using replay = await opened(SOME_ACCOUNT)
  const profile = {
    profile: { account: [{ account_number: SOME_ACCOUNT, type: 'margin', status: 'active', classification: 'individual' }] }
  }
  // Only an expired token is put right by another one.
  const isExpiry = /access.?token/i.test(body)
  const guarded = (authorization: string | undefined) => (isExpiry && authorization === 'Bearer token-2' ? reply(profile) : answer)
  replay.on('GET /v1/user/profile', ({ headers }) => guarded(headers.authorization))
  const renewed = {
    access_token: 'token-2',
    refresh_token: 'refresh-2',
    expires_in: 86_399,
    issued_at: new Date().toISOString(),
    status: 'approved'
  }
  replay.on('POST /v1/oauth/*', reply(renewed))
  const read = await replay.broker.accounts(signal()).then(
    () => ({ fault: 'token_renewed', credential_rejected: false }),
    (error: unknown) => faultFacts(error)
  )
  const { renewals } = replay.holder
  await using another = await opened(SOME_ACCOUNT)
  another.on(`POST /v1/accounts/${SOME_ACCOUNT}/orders`, answer)
  another.on('POST /v1/oauth/*', reply(renewed))
  const outcome = outcomeFacts(await another.broker.submit(orderOf(SOME_ACCOUNT), signal()))
  return { ...outcome, ...read, refresh_once: renewals === 1, order_created: outcome.order_created }
}
