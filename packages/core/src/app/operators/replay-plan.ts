// What of an order can be repeated in the sandbox, from what is recorded of it. Pure.
import { compare, type Decimal, plus } from '../../domain/decimal.ts'
import type { Fill, Order } from '../../domain/order.ts'
import { epochMs } from '../../domain/timestamp.ts'

/** A part of an order that a replay does not have. */
export interface NotRepeated {
  readonly part: 'broker' | 'account' | 'answer' | 'time' | 'fills' | 'end' | 'changes' | 'outcome' | 'market'
  readonly why: string
}

export interface PlannedFault {
  readonly do: 'refuse' | 'refuse_later' | 'lose_answer' | 'reset' | 'delay'
  readonly ms?: number
  readonly message?: string
}

type Level = readonly [price: string, quantity: string]

export interface ReplayPlan {
  /** What the submit meets; null: nothing. */
  readonly fault: PlannedFault | null
  /** What the order can trade with, best first; null: whatever the sandbox has. */
  readonly liquidity: readonly Level[] | null
  /** Who cancels it once its fills are there; null: nobody. */
  readonly cancel: 'service' | 'sandbox' | null
  readonly notRepeated: readonly NotRepeated[]
}

/** A shorter time is what an answer takes. */
const LATE_MS = 1_000
const LATE_MS_MAX = 60_000
const MESSAGE_MAX = 500

/** `cancelWasRequested`: whether the audit log has a request to cancel it. */
export function planReplay(order: Order, cancelWasRequested: boolean): ReplayPlan {
  const answer = answerOf(order)
  const late = lateOf(order, answer.fault)
  const fills = fillsOf(order, answer.fault)
  const end = endOf(order, cancelWasRequested)
  return {
    fault: late.fault,
    liquidity: fills.liquidity,
    cancel: end.cancel,
    notRepeated: [...ALWAYS, ...answer.left, ...late.left, ...fills.left, ...end.left, ...changesOf(order)]
  }
}

const ALWAYS: readonly NotRepeated[] = [
  { part: 'account', why: 'The practice account has other money and other positions, and the practice user’s own connection.' },
  { part: 'time', why: 'Fills come at once, not at the recorded times.' }
]

interface Answered {
  readonly fault: PlannedFault | null
  readonly left: readonly NotRepeated[]
}

const nothing: Answered = { fault: null, left: [] }

function answerOf({ submission: { state, method }, status, brokerMessage }: Order): Answered {
  switch (state) {
    case 'refused':
      return refused('refuse', brokerMessage)
    case 'not_received':
      return { fault: { do: 'reset' }, left: [] }
    case 'submitting':
    case 'unknown':
      return { fault: { do: 'lose_answer' }, left: [answer('Whether the broker took the order is not known; the sandbox takes it.')] }
    case 'not_sent':
    case 'refused_by_gateway':
      return { fault: null, left: [answer('The order was not sent to the broker. Whether this one is depends on how the service is now.')] }
    case 'external':
      return { fault: null, left: [answer('The order was placed elsewhere; here it is placed by the service.')] }
    case 'acknowledged':
      if (status === 'rejected') return refused('refuse_later', brokerMessage)
      if (method === 'lookup' || method === 'snapshot' || method === 'recovery') return { fault: { do: 'lose_answer' }, left: [] }
      return method === 'reply'
        ? nothing
        : { fault: null, left: [answer('How the broker’s own answer came is not recorded; it comes at once.')] }
  }
}

function refused(effect: 'refuse' | 'refuse_later', message: string | null): Answered {
  if (message === null)
    return { fault: { do: effect }, left: [answer('The broker’s message is not recorded, so the sandbox’s own is there.')] }
  const left = message.length > MESSAGE_MAX ? [answer(`The message is cut after ${MESSAGE_MAX} characters.`)] : []
  return {
    fault: { do: effect, message: message.slice(0, MESSAGE_MAX) },
    left: [...left, answer('The code of the refusal is the sandbox’s, not the broker’s.')]
  }
}

/** `since` is when the answer was known, and `entryTime` when the order was stored, just before it was sent. */
function lateOf({ submission: { method, since }, entryTime }: Order, fault: PlannedFault | null): Answered {
  const ms = Math.round(epochMs(since) - epochMs(entryTime))
  if (method !== 'reply' || ms < LATE_MS) return { fault, left: [] }
  const after = `The answer came after ${ms} ms`
  if (fault !== null)
    return { fault, left: [{ part: 'time', why: `${after}. One request meets one fault, which is needed for the answer.` }] }
  if (ms > LATE_MS_MAX)
    return { fault: { do: 'delay', ms: LATE_MS_MAX }, left: [{ part: 'time', why: `${after}; here it comes after ${LATE_MS_MAX} ms.` }] }
  return { fault: { do: 'delay', ms }, left: [] }
}

interface Filled {
  readonly liquidity: readonly Level[] | null
  readonly left: readonly NotRepeated[]
}

function fillsOf({ type, side, legs, fills }: Order, fault: PlannedFault | null): Filled {
  if (fault?.do === 'refuse' || fault?.do === 'reset') return { liquidity: null, left: [] }
  if (legs !== null) return { liquidity: null, left: [part('fills', 'An order of several legs fills as the sandbox’s market has it.')] }
  if (type === 'STP' || type === 'STPLMT')
    return { liquidity: null, left: [part('fills', 'A stop waits for a price of the sandbox’s market, and fills as it has it.')] }
  if (fills.length === 0 && type === 'MKT')
    return { liquidity: null, left: [part('fills', 'A market order without fills trades with what the sandbox has.')] }
  return {
    liquidity: levelsOf(fills, side.startsWith('BUY')),
    left: fills.some(({ inferred }) => inferred === true)
      ? [part('fills', 'Some fills were inferred from a total, so their number and their prices are not the broker’s.')]
      : []
  }
}

/** The fills by price, best first: the cheapest for a buyer. */
function levelsOf(fills: readonly Fill[], isBuy: boolean): readonly Level[] {
  const byPrice = new Map<Decimal, Decimal>()
  for (const { price, quantity } of fills) {
    const known = byPrice.get(price)
    byPrice.set(price, known === undefined ? quantity : plus(known, quantity))
  }
  const levels = [...byPrice].sort(([one], [other]) => compare(one, other))
  return isBuy ? levels : levels.toReversed()
}

function endOf({ status, pendingRequest }: Order, cancelWasRequested: boolean): Pick<ReplayPlan, 'cancel'> & Pick<Answered, 'left'> {
  if (status === 'cancelled' && cancelWasRequested) return { cancel: 'service', left: [] }
  if (status === 'cancelled')
    return { cancel: 'sandbox', left: [part('end', 'No request to cancel this one order is on record, so the sandbox cancels it.')] }
  if (status === 'pending_cancel' || pendingRequest?.kind === 'cancel')
    return { cancel: null, left: [part('end', 'The cancel of the order has no outcome yet, so none is requested.')] }
  if (status === 'expired')
    return { cancel: null, left: [part('end', 'The order expired. The sandbox’s clock is not moved for it: set it to see that.')] }
  return { cancel: null, left: [] }
}

function changesOf({ replacesOrderId, replacedByOrderId }: Order): readonly NotRepeated[] {
  const left: NotRepeated[] = []
  if (replacesOrderId !== null) left.push(part('changes', 'The order replaced another one; here it is new, with its whole quantity.'))
  if (replacedByOrderId !== null) left.push(part('changes', 'The order was replaced; here it is not. Replay the order that replaced it.'))
  return left
}

function answer(why: string): NotRepeated {
  return part('answer', why)
}

function part(name: NotRepeated['part'], why: string): NotRepeated {
  return { part: name, why }
}
