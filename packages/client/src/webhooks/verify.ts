import type { BalanceUpdate, OrderUpdate, PositionsUpdate } from '../generated/openapi.ts'
import { WebhookError } from './errors.ts'
import { signedHeaders, type WebhookHeaders } from './headers.ts'
import { type Bytes, verifiersOf } from './keys.ts'

export interface VerifyWebhookOptions {
  /** Those of the endpoint, `whsec_…`; while one is replaced, the old one and the new one. */
  readonly secrets?: readonly string[]
  /** Those of the endpoint, `whpk_…`, instead of secrets or besides them. */
  readonly publicKeys?: readonly string[]
  readonly headers: WebhookHeaders
  /** As it was received. Parsed and written again, it is another text. */
  readonly body: string | Uint8Array | ArrayBuffer
  /** How far the time of the webhook may be from now, in both directions; 300. */
  readonly toleranceSeconds?: number
  /** 8 MiB. A message is 256 KiB at most, unless it is one event: that has all positions of an account that changed. */
  readonly bodyBytesMax?: number
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/**
 * The event that the broker stream sends, too, or what stands in the place of events that are missing. Pass over a `type` that you do not
 * know: later versions may have others.
 */
export type WebhookEvent = OrderUpdate | PositionsUpdate | BalanceUpdate | EventsErased

/** Events of the user that the log has no more, because the endpoint was behind for too long: read orders, positions and balances. */
export interface EventsErased {
  readonly type: 'events_erased'
  readonly user_id: string
  readonly from_seq: number
  readonly to_seq: number
}

export interface Webhook {
  /** The same at every repetition of a delivery. */
  readonly id: string
  /** When this attempt was made. */
  readonly sentAt: Date
  /** `events`; later versions of the service may have others. */
  readonly type: 'events' | (string & {})
  /** In the order of their `seq`. */
  readonly data: readonly WebhookEvent[]
}

const BODY_BYTES_MAX = 8_388_608

/**
 * The webhook, if the service signed it: by Standard Webhooks, over the id, the time and the body. Whether it came before is for the caller
 * to know, by its `id` or by the `seq` of the events.
 *
 * @throws WebhookError whose `code` says why it is refused.
 */
export async function verifyWebhook(options: VerifyWebhookOptions = Object()): Promise<Webhook> {
  const { toleranceSeconds = 300, now = Date.now } = options
  if (!(toleranceSeconds >= 0)) throw new WebhookError('setting_invalid', '`toleranceSeconds` is a number from 0 on.')
  const verifiers = verifiersOf(options.secrets ?? [], options.publicKeys ?? [])
  const body = bytesIn(options.body, options.bodyBytesMax ?? BODY_BYTES_MAX)
  const { id, timestamp, signatures } = signedHeaders(options.headers)
  const age = now() / 1_000 - Number(timestamp)
  // Written so that a clock without a number refuses, too.
  if (!(age <= toleranceSeconds)) throw new WebhookError('webhook_too_old', `The webhook is older than ${toleranceSeconds} seconds.`)
  if (-age > toleranceSeconds) throw new WebhookError('webhook_too_new', `The webhook is more than ${toleranceSeconds} seconds ahead.`)
  const content = joined(new TextEncoder().encode(`${id}.${timestamp}.`), body)
  for (const verifier of verifiers) {
    if (await verifier.verify(content, signatures)) return { id, sentAt: new Date(Number(timestamp) * 1_000), ...parsed(body) }
  }
  throw new WebhookError('webhook_signature_invalid', 'None of the signatures is of this id, time and body by one of the keys.')
}

function bytesIn(body: VerifyWebhookOptions['body'], max: number): Uint8Array {
  const size = typeof body === 'string' ? body.length : body?.byteLength
  if (typeof size !== 'number')
    throw new WebhookError('setting_invalid', 'The body must be the text or the bytes that were received, before they are parsed.')
  const tooLarge = () => new WebhookError('webhook_too_large', `The body is longer than ${max} bytes.`)
  if (size > max) throw tooLarge()
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (typeof body !== 'string') return body
  const bytes = new TextEncoder().encode(body)
  if (bytes.length > max) throw tooLarge()
  return bytes
}

function joined(head: Uint8Array, body: Uint8Array): Bytes {
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

/** The signed body: only its outline is checked, so that a later version of the service can add to it. */
function parsed(body: Uint8Array): Pick<Webhook, 'type' | 'data'> {
  const value = objectIn(body)
  if (typeof value?.type !== 'string' || !Array.isArray(value.data) || !value.data.every(isEvent))
    throw new WebhookError(
      'webhook_malformed',
      'The body is signed, and is not `{ "type": …, "data": [ … ] }` with an event in each place.'
    )
  return { type: value.type, data: value.data }
}

function objectIn(body: Uint8Array): { readonly type?: unknown; readonly data?: unknown } | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
    return Object(value)
  } catch {
    return null
  }
}

function isEvent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
