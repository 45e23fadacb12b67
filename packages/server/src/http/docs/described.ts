// The documentation of a stream.
import type { Static, TObject, TSchema } from 'typebox'

/** One message. The schema says what it is for; `example` fits the schema. */
export interface Message {
  readonly title: string
  /** The value of `action` or `type`; the channel of an update that has neither. */
  readonly name: string
  readonly summary: string
  readonly schema: TObject
  readonly example: unknown
}

/** A message of the client, with the messages that answer it. */
export interface Request extends Message {
  /** How it behaves beyond its fields. */
  readonly rules: string
  readonly replies: readonly Message[]
}

/** A message that the service sends of its own accord, or messages of one kind. */
export interface Announcement {
  readonly id: string
  readonly summary: string
  readonly rules: string
  readonly messages: readonly Message[]
}

/** What a close code means, and what a client does about it. */
export interface CloseCode {
  readonly code: number
  readonly meaning: string
  readonly remedy: string
}

/** What is bounded, by how much, and what happens at the bound. */
export interface Limit {
  readonly what: string
  readonly value: string
  readonly beyond: string
}

/** An error code, when it occurs, and what a client does about it. */
export interface ErrorCode {
  readonly code: string
  readonly meaning: string
  readonly remedy: string
}

/** A stream as a whole. */
export interface Stream {
  /** Names its channel and its server in the description for programs. */
  readonly id: string
  /** Where it is described on the page. */
  readonly anchor: string
  readonly title: string
  readonly path: string
  readonly summary: string
  /** Prefix of its operations' names, so that two streams can have the same actions. */
  readonly prefix: string
  /** For the description for programs, in Markdown. */
  readonly introduction: string
  /** For the page, before and after the dialogue; `code` in backquotes. */
  readonly opening: string
  readonly closing: string
  readonly security: { readonly name: string; readonly scheme: SecurityScheme }
  readonly requests: readonly Request[]
  readonly announcements: readonly Announcement[]
  /** The session of the examples. */
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

/** Every message of a stream once, in the order in which a session meets them. */
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

/** A message of that schema. An update that has neither `action` nor `type` is called by its channel. */
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
