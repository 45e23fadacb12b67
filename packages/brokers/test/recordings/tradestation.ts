/** How a recording of TradeStation is put through its adapter. */

import type { NewOrder, OrderReport, Outcome } from '@trunkline/core/ports/broker'
import { bookedFills, type Facts, faultFacts, orderFacts, outcomeFacts, previewFacts } from './facts.ts'
import { type Json, numberIn, type Recording, type Step } from './load.ts'
import { accountsOf, balancesOf, orFault, positionsOf } from './reads.ts'
import { pathOf, reply } from './replay.ts'
import { signal, TICKET } from './ticket.ts'
import { marketFacts, spelledFacts } from './tradestation-market.ts'
import { Stage } from './tradestation-stage.ts'
import { ordersStream, positionsStream } from './tradestation-streams.ts'

/** What the adapter concludes, by the keys of `expected`. */
export async function tradestationFacts(recording: Recording): Promise<Facts> {
  const [first] = recording.steps
  if (first === undefined) return {}
  const path = pathOf(first.path ?? '')
  await using stage = await Stage.open(recording)
  if (path.includes('/stream/accounts/')) return path.endsWith('/positions') ? await positionsStream(stage) : await ordersStream(stage)
  if (path.startsWith('/v3/marketdata/')) return await marketFacts(stage.replay, recording.steps, path)
  if (first.path === null) return await valuesFacts(stage, first.payload)
  const each: Facts[] = []
  for (const step of recording.steps) each.push(await stepFacts(stage, step))
  return { order: each.at(-1), ...each.at(-1), after_each: each }
}

async function stepFacts(stage: Stage, step: Step): Promise<Facts> {
  const { method, path } = step
  const asked = `${method} ${pathOf(path ?? '')}`
  if (asked === 'GET /v3/brokerage/accounts') return await accountsFacts(stage, step)
  if (/^GET .*\/(?:positions|balances)$/.test(asked)) {
    const kind = asked.endsWith('/positions') ? 'positions' : 'balances'
    stage.replay.on(`GET /v3/brokerage/accounts/${stage.account}/${kind}`, { status: step.status ?? 200, body: step.body })
    return await (kind === 'positions' ? positionsOf : balancesOf)(stage.replay.broker, stage.account)
  }
  const [, id] = /^GET .*orders\/([^/]+)$/.exec(asked) ?? []
  if (id !== undefined && (step.payload?.Orders ?? []).length === 0) return await orFault(() => missingFacts(stage, step, id))
  if (/^GET .*orders(?:\/|$)/.test(asked)) {
    const isPast = asked.includes('historicalorders')
    if (step.payload?.Orders === undefined) stage.replay.on('GET /v3/brokerage/accounts/*', { status: step.status ?? 200, body: step.body })
    const rows = step.payload?.Orders ?? []
    return await orFault(async () => {
      const reports = await stage.reports(isPast ? [] : rows, isPast ? rows : [])
      const orders = reports.map(report => orderFacts(report, bookedFills([report])))
      return { ...orders[0], orders }
    })
  }
  if (asked.endsWith('/orderconfirm')) return await confirmFacts(stage, step)
  if (asked.startsWith('POST ')) return await placeFacts(stage, step)
  return await changeFacts(stage, step)
}

/** An order that the answer does not have. */
async function missingFacts({ replay, account }: Stage, { status, body }: Step, brokerOrderId: string): Promise<Facts> {
  replay.on('GET /v3/brokerage/accounts/*', { status: status ?? 200, body })
  const { found } = await replay.broker.findOrder({ by: 'brokerOrderId', brokerAccountId: account, brokerOrderId }, signal())
  return found === null ? { fault: 'absent', credential_rejected: false, connection: 'ACTIVE', retry: false } : orderFacts(found)
}

async function accountsFacts({ replay }: Stage, { status, body }: Step): Promise<Facts> {
  replay.on('GET /v3/brokerage/accounts', { status: status ?? 200, body })
  return await accountsOf(replay.broker)
}

async function placeFacts({ replay, account }: Stage, step: Step): Promise<Facts> {
  replay.on('POST /v3/orderexecution/orders', { status: step.status ?? 200, body: inEnvelope(step, 'place') })
  const order: NewOrder = { ...TICKET, brokerAccountId: account, brokerClOrdId: 'client1' }
  return outcomeFacts(await replay.broker.submit(order, signal()))
}

async function changeFacts({ replay, account }: Stage, step: Step): Promise<Facts> {
  replay.on(`${step.method} /v3/orderexecution/orders/*`, { status: step.status ?? 200, body: inEnvelope(step, 'change') })
  const id = step.payload?.OrderID
  const one = { brokerAccountId: account, brokerOrderId: id === undefined ? '900000001' : numberIn(id) }
  const { broker } = replay
  const outcome: Outcome<OrderReport | null> =
    step.method === 'PUT'
      ? await broker.replace({ ...one, brokerClOrdId: 'client2', ticket: TICKET }, signal())
      : await broker.cancel(one, signal())
  const facts = outcomeFacts(outcome, { normalized_status: step.method === 'PUT' ? 'pending_replace' : 'pending_cancel' })
  // A refused change says nothing of the order's state.
  return outcome.kind === 'accepted'
    ? facts
    : { ...facts, normalized_status: 'unchanged', old_order: 'unchanged', replacement: outcome.kind }
}

/** Of some refusals the text alone was recorded: this is the envelope that the documentation and other answers show. */
function inEnvelope({ payload, body }: Step, kind: 'place' | 'change'): string {
  if (payload !== undefined) return body
  const failed = { Error: 'FAILED', Message: body }
  return JSON.stringify(kind === 'place' ? { Orders: [], Errors: [failed] } : failed)
}

const SUMMARY = /^(Buy|Sell)(?: Short| to Cover)? ([\d.]+) (\S+) @ (?:Market|([\d.]+))/
const ASSET_TYPES: { readonly [category: string]: string } = { EQUITY: 'STOCK', FUTURE: 'FUTURE' }

/** The order is the one that the summary names. */
async function confirmFacts(stage: Stage, { status, body, payload }: Step): Promise<Facts> {
  const [confirmed]: readonly Json[] = payload.Confirmations ?? []
  const [, side, quantity, symbol, limit] = SUMMARY.exec(confirmed?.SummaryMessage ?? '') ?? []
  const leg = {
    Symbol: symbol ?? 'MSFT',
    AssetType: ASSET_TYPES[confirmed?.OrderAssetCategory] ?? 'STOCK',
    BuyOrSell: side ?? 'Buy',
    QuantityOrdered: quantity ?? '1'
  }
  const [order] = await stage.reports([{ OrderType: limit === undefined ? 'Market' : 'Limit', LimitPrice: limit ?? '', Legs: [leg] }])
  stage.replay.on('POST /v3/orderexecution/orderconfirm', { status: status ?? 200, body })
  try {
    const preview = await stage.replay.broker.preview({ ...(order ?? TICKET), brokerAccountId: stage.account }, signal())
    return { ...previewFacts(preview), asset: order?.instrument ?? null }
  } catch (error) {
    return faultFacts(error)
  }
}

/** Single values without their answers: durations, or the symbols of legs. */
async function valuesFacts(stage: Stage, values: Json): Promise<Facts> {
  if (values.every((value: Json) => typeof value === 'string')) {
    const orders = values.map((Duration: string, index: number) => ({ Duration, OrderID: `90000${1000 + index}` }))
    const reports = await stage.reports(orders)
    return { order_tif: reports.map(({ tif }) => tif) }
  }
  const symbols: unknown[] = []
  for (const leg of values) symbols.push(leg.AssetType === 'INDEX' ? await spelledFacts(stage.replay, leg) : await traded(stage, leg))
  return { symbols }
}

/** Ours for the symbol of a leg, if an order in it is sent with the same spelling. */
async function traded(stage: Stage, leg: Json): Promise<string> {
  const [report] = await stage.reports([{ Legs: [{ ...leg }] }])
  if (report === undefined) return `the order in ${leg.Symbol} was left out`
  stage.replay.on('POST /v3/orderexecution/orders', reply({ Orders: [{ Message: 'Sent order', OrderID: '900000001' }] }))
  await stage.replay.broker.submit({ ...report, brokerClOrdId: 'client1' }, signal())
  const sent: Json = JSON.parse(stage.replay.seen('POST /v3/orderexecution/orders').at(-1)?.body ?? '{}')
  return sent.Symbol === leg.Symbol ? String(report.symbol) : `${report.symbol}, sent as ${sent.Symbol}`
}
