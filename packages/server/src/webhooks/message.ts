// What an endpoint is sent of a user's log: the events at hand that pass its filter, in the bytes of the stream.
import { createHash } from 'node:crypto'
import type { EventId, UserId, UserKey, WebhookEndpointId } from '@trunkline/core/domain/ids'
import { passes, type WebhookCursor, type WebhookFilter } from '@trunkline/core/domain/webhook'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { updateBytes } from '../wire/update.ts'

export const EVENTS_MAX = 100
/** Of the events together. A single larger one is sent alone. */
export const EVENT_BYTES_MAX = 256 * 1024

export interface WebhookMessage {
  /** The same for the same events of the same user at the same endpoint, and for no others. */
  readonly messageId: string
  readonly body: Uint8Array
  readonly from: number
  readonly to: number
  /** Null if all were erased before they were sent. */
  readonly firstEventId: EventId | null
  readonly count: number
}

/** The next part of a user's log. */
export interface Stretch {
  /** Null if none of its events passes the filter. */
  readonly message: WebhookMessage | null
  /** Where the cursor is once it is received or passed over. */
  readonly to: number
}

export interface StretchOf {
  readonly endpointId: WebhookEndpointId
  readonly userKey: UserKey
  readonly userId: UserId
  readonly filter: WebhookFilter
  readonly cursor: Pick<WebhookCursor, 'seq' | 'tryingTo'>
  /** Those of the log after the cursor, ascending, as many as were read. */
  readonly events: readonly LoggedEvent[]
  /** The newest event that was erased; at or before the cursor if none was that is missing. */
  readonly erasedTo: number
}

/** Composes the next message. The same log, cursor and filter give the same bytes. */
export function nextStretch(of: StretchOf): Stretch {
  const { cursor, userId } = of
  const end = cursor.tryingTo ?? Number.POSITIVE_INFINITY
  const parts: Uint8Array[] = []
  const erasedTo = Math.min(of.erasedTo, end)
  const isErased = erasedTo > cursor.seq
  let bytes = 0
  const add = (part: Uint8Array) => {
    parts.push(part)
    bytes += part.byteLength
  }
  if (isErased) add(erasedEvent(userId, cursor.seq + 1, erasedTo))
  let to = isErased ? erasedTo : cursor.seq
  let lastPassed = to
  let first: LoggedEvent | null = null
  const taken: number[] = []
  for (const event of of.events) {
    if (event.seq > end || parts.length >= EVENTS_MAX) break
    if (passes(of.filter, event)) {
      const part = updateBytes(event, userId)
      if (parts.length > 0 && bytes + part.byteLength > EVENT_BYTES_MAX) break
      add(part)
      first ??= event
      taken.push(event.seq)
      lastPassed = event.seq
    }
    to = event.seq
  }
  if (parts.length === 0) return { message: null, to }
  const from = isErased ? cursor.seq + 1 : (first?.seq ?? 0)
  const messageId = messageIdOf(of, taken, isErased ? [from, erasedTo] : null)
  const body = bodyOf(parts)
  return { message: { messageId, body, from, to: lastPassed, firstEventId: first?.eventId ?? null, count: parts.length }, to }
}

/** The body of a test message. */
export const TEST_BODY: Uint8Array = new TextEncoder().encode('{"type":"test","data":[]}')

/** By every event that it has: receivers pass over a message whose id they know. */
function messageIdOf({ endpointId, userKey }: StretchOf, taken: readonly number[], erased: readonly [number, number] | null): string {
  const content = JSON.stringify([endpointId, userKey, taken, erased])
  return `msg_${createHash('sha256').update(content).digest('base64url')}`
}

function erasedEvent(userId: UserId, from: number, to: number): Uint8Array {
  return Buffer.from(JSON.stringify({ type: 'events_erased', user_id: userId, from_seq: from, to_seq: to }))
}

function bodyOf(parts: readonly Uint8Array[]): Uint8Array {
  const comma = Buffer.from(',')
  const joined = parts.flatMap((part, at) => (at === 0 ? [part] : [comma, part]))
  return Buffer.concat([Buffer.from('{"type":"events","data":['), ...joined, Buffer.from(']}')])
}
