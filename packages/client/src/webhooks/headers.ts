import { WebhookError } from './errors.ts'

/** As a `Request` has them, or as Node, Bun and the frameworks over them give them; the case of a name does not matter. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/** What is signed besides the body, and the signatures. */
export interface SignedHeaders {
  readonly id: string
  /** As it was sent, because that text is signed. */
  readonly timestamp: string
  readonly signatures: readonly Signature[]
}

export interface Signature {
  readonly version: string
  readonly base64: string
}

const HEADER_CHARS_MAX = 4_096
const SIGNATURES_MAX = 16
/** Without a full stop, which separates id, time and body in what is signed: no other three may have the same text. */
const ID = /^[\x21-\x2d\x2f-\x7e]{1,256}$/
const TIMESTAMP = /^\d{1,11}$/
const SIGNATURE = /^(v\d{1,3}[a-z]{0,8}),([A-Za-z0-9+/]+={0,2})$/

/** @throws WebhookError webhook_malformed */
export function signedHeaders(headers: WebhookHeaders): SignedHeaders {
  const id = one(headers, 'webhook-id')
  if (!ID.test(id)) throw new WebhookError('webhook_malformed', '`webhook-id` is not an id.')
  const timestamp = one(headers, 'webhook-timestamp')
  if (!TIMESTAMP.test(timestamp)) throw new WebhookError('webhook_malformed', '`webhook-timestamp` is not a number of seconds.')
  const listed = one(headers, 'webhook-signature').split(' ')
  if (listed.length > SIGNATURES_MAX) throw new WebhookError('webhook_malformed', `There are more than ${SIGNATURES_MAX} signatures.`)
  return { id, timestamp, signatures: listed.map(signatureOf) }
}

function signatureOf(text: string): Signature {
  const [, version = '', base64 = ''] = SIGNATURE.exec(text) ?? []
  if (version === '') throw new WebhookError('webhook_malformed', '`webhook-signature` has something that is not a signature.')
  return { version, base64 }
}

/** The only value of a header. With two, another program of the receiver could read the other one. */
function one(headers: WebhookHeaders, name: string): string {
  const [value, ...others] = valuesOf(headers, name)
  if (value === undefined) throw new WebhookError('webhook_malformed', `\`${name}\` is missing.`)
  // Fetch and Node join what was sent twice by a comma and a space.
  if (others.length > 0 || value.includes(', ')) throw new WebhookError('webhook_malformed', `\`${name}\` comes twice.`)
  if (value.length > HEADER_CHARS_MAX) throw new WebhookError('webhook_malformed', `\`${name}\` is too long.`)
  return value
}

function valuesOf(headers: WebhookHeaders, name: string): readonly string[] {
  if (Object(headers) !== headers) throw new WebhookError('setting_invalid', '`headers` must be those of the request, and are missing.')
  if (typeof headers.get === 'function') return [headers.get(name) ?? []].flat()
  return Object.entries(headers)
    .filter(([key]) => key.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
}
