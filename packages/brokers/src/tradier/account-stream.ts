/**
 * Tradier's account stream: a session of five minutes to begin with, no acknowledgement, no replay, and events with few fields. Pure but
 * for the session.
 */

import { ZERO } from '@trunkline/core/domain/decimal'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { readJson } from '../kit/json.ts'
import { mergedEvent, quantityAfter } from '../kit/order-merge.ts'
import { displayTextOrNull, nested, object, text, timestampOrNull, type Wire } from '../kit/parse.ts'
import { form } from '../kit/requests.ts'
import type { AccountMessage } from '../kit/runtime/account-messages.ts'
import type { AccountStreamDefinition } from '../kit/runtime/account-stream.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import { fillTotalsOf, lacksFillTotals, ORDER_TYPES, STATUSES, statusOf } from './codecs.ts'
import { amountOrNull, type Resource, requestedAnswer, textOf } from './quirks.ts'

/** A request without an error within this time is taken to be accepted. */
const LIVE_AFTER_MS = 500
const ORDER_SPACING_MS = 1_000
const ACCOUNT_SPACING_MS = 2_000

/** `url` is the base of the addresses; the one that an answer names is not followed. */
export function accountStream(
  { url, heartbeatMs }: { readonly url: string; readonly heartbeatMs: number },
  session: (signal: AbortSignal) => Promise<string>
): AccountStreamDefinition {
  return {
    async begin(signal) {
      const sessionid = await session(signal)
      const hello = JSON.stringify({ events: ['order'], sessionid, excludeAccounts: [] })
      return { url: `${url}/accounts/events`, hello: [hello], read: readFrame }
    },
    unacknowledged: { liveAfterMs: LIVE_AFTER_MS, heartbeatMs },
    events: { merged, lacksTotals: lacksFillTotals },
    orderSpacingMs: ORDER_SPACING_MS,
    accountSpacingMs: ACCOUNT_SPACING_MS
  }
}

/** A new session of a stream, which ends the user's other one; it may be connected to for five minutes. */
export function sessionFor(
  of: 'accounts' | 'markets',
  { calls }: Pick<OpenLogin<Resource>, 'calls'>
): (signal: AbortSignal) => Promise<string> {
  const request = form('POST', `/${of}/events/session`, {})
  return signal => calls.of('standard').read(request, reply => sessionOf(requestedAnswer(reply)), signal)
}

/** @throws Malformed */
export function sessionOf(answer: Wire): string {
  return text(nested(answer, 'stream'), 'sessionid', 200)
}

/** Several messages may come in one frame, one a line. @throws Malformed */
export function readFrame(frame: string): readonly AccountMessage[] {
  return frame
    .split('\n')
    .filter(line => line.trim() !== '')
    .map(line => messageOf(object(readJson(line, { numbers: 'text' }), 'message')))
}

function messageOf(message: Wire): AccountMessage {
  const complaint = displayTextOrNull(message, 'error')
  if (complaint !== null) return { type: 'over', cause: 'refused', reason: `Tradier refused the account stream: ${complaint}` }
  if (text(message, 'event', 32) !== 'order') return { type: 'heartbeat' }
  // An order of a bracket is reported with the id of the bracket, which has to be read.
  const parent = textOf(message, 'parent_id')
  const account = text(message, 'account', 64)
  if (parent !== null) return { type: 'order_hint', account, brokerOrderId: parent }
  return { type: 'order_event', account, brokerOrderId: text(message, 'id', 64), event: message }
}

/** The order as an event leaves it: as it is known where the event is older than that. @throws Malformed */
export function merged(known: OrderReport, event: Wire): OrderReport | 'read' {
  // Legs fill one by one and events do not report them, nor why an order was rejected.
  if (known.legs !== null || STATUSES.read(event, 'status') === 'rejected') return 'read'
  const { filled } = fillTotalsOf(event)
  const quantity = quantityAfter(known.quantity, filled.quantity, amountOrNull(event, 'remaining_quantity') ?? ZERO)
  return mergedEvent(known, quantity, {
    filled,
    type: ORDER_TYPES.read(event, 'type'),
    status: statusOf(event, { quantity, filled }),
    limitPrice: amountOrNull(event, 'price'),
    stopPrice: amountOrNull(event, 'stop_price'),
    brokerStatus: text(event, 'status', 64),
    brokerOrderType: text(event, 'type', 64),
    brokerClOrdId: textOf(event, 'tag'),
    updatedAt: timestampOrNull(event, 'transaction_date')
  })
}
