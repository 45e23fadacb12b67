// The types that the documentation of a stream is made of.
import type { Static, TObject, TSchema } from 'typebox'

/** One message. The schema's description is its `summary`; `example` is valid for the schema. */
export interface Message {
  readonly title: string
  /** The value of `action` or `type`; the channel, for an update that has neither. */
  readonly name: string
  readonly summary: string
  readonly schema: TObject
  readonly example: unknown
}

/** A message from the client, with the possible replies. */
export interface Request extends Message {
  /** Behaviour that the fields do not show. */
  readonly rules: string
  readonly replies: readonly Message[]
}

/** One kind of message that the service sends without a request. */
export interface Announcement {
  readonly id: string
  readonly summary: string
  readonly rules: string
  readonly messages: readonly Message[]
}

/** What a close code means, and what a client should do. */
export interface CloseCode {
  readonly code: number
  readonly meaning: string
  readonly remedy: string
}

/** A limit, its value, and what happens when it is exceeded. */
export interface Limit {
  readonly what: string
  readonly value: string
  readonly beyond: string
}

/** An error code, when it occurs, and what a client should do. */
export interface ErrorCode {
  readonly code: string
  readonly meaning: string
  readonly remedy: string
}

export interface Stream {
  /** The name of its channel and server in the AsyncAPI document. */
  readonly id: string
  /** Its anchor on the reference page. */
  readonly anchor: string
  readonly title: string
  readonly path: string
  readonly summary: string
  /** Prefix of its operations' names: two streams may have actions of the same name. */
  readonly prefix: string
  /** For the AsyncAPI document, in Markdown. */
  readonly introduction: string
  /** For the reference page, before and after the dialogue. Backquotes mark `code`. */
  readonly opening: string
  readonly closing: string
  readonly security: { readonly name: string; readonly scheme: SecurityScheme }
  readonly requests: readonly Request[]
  readonly announcements: readonly Announcement[]
  /** The example session. */
  readonly dialogue: readonly Message[]
  readonly closeCodes: readonly CloseCode[]
  readonly limits: readonly Limit[]
  /** Empty where errors have no codes. */
  readonly errorCodes: readonly ErrorCode[]
}

export interface SecurityScheme {
  readonly type: string
  readonly in?: string
  readonly description: string
}

/** Every message of a stream once, in the order in which a session sends and receives them. */
export function messagesOf({
  requests,
  announcements,
  dialogue
}: Pick<Stream, 'requests' | 'announcements' | 'dialogue'>): readonly Message[] {
  const [first] = dialogue
  const all = [
    ...(first === undefined ? [] : [first]),
    ...requests.flatMap(request => [request, ...request.replies]),
    ...announcements.flatMap(({ messages }) => messages)
  ]
  return [...new Map(all.map(one => [one.title, one] as const)).values()]
}

/** A message with this schema. An update that has neither `action` nor `type` is named by its channel. */
export function message<S extends TObject>(schema: S, example: Static<S>, channel?: string): Message {
  const { title, description }: { readonly title?: unknown; readonly description?: unknown } & TObject = schema
  const name = nameOf(schema) ?? channel
  if (typeof title !== 'string' || typeof description !== 'string' || name === undefined) {
    throw new TypeError('a message of a stream needs a title, a description, and one value of `action` or `type`, or a channel')
  }
  return { title, name, summary: description, schema, example }
}

function nameOf({ properties: { action, type } }: TObject): string | undefined {
  const { const: name }: { readonly const?: unknown } & TSchema = action ?? type ?? {}
  return typeof name === 'string' ? name : undefined
}

export function seconds(milliseconds: number): string {
  return `${milliseconds / 1_000} seconds`
}

export function count(number: number): string {
  return number.toLocaleString('en')
}

export function kibibytes(bytes: number): string {
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`
}
