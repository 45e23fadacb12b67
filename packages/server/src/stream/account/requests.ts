// Parses the messages of a client on the broker stream. Unknown fields are ignored: a newer client may send them.
import { parseUserId, type UserId } from '@trunkline/core/domain/ids'
import { Malformed } from '@trunkline/core/domain/malformed'
import { STREAM_VERSION, TOPICS } from '../../wire/stream.ts'
import { type Message, shown } from '../message.ts'
import { ALL_TOPICS, TOPIC_BITS } from './feed.ts'

/** A request that cannot be carried out; the reason may be shown. */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage'
}

export interface Authenticate {
  readonly clientId: string
  readonly clientSecret: string
  readonly extensions: ReadonlySet<string>
}

export interface SubscribeUser {
  readonly userId: UserId
  /** Everything after this number is wanted; null: only what comes. */
  readonly after: number | null
}

const EXTENSIONS_MAX = 16

/** @throws InvalidMessage */
export function readAuthenticate({ client_id, client_secret, version, extensions }: Message): Authenticate {
  if (version !== undefined && version !== null && version !== STREAM_VERSION) {
    throw new InvalidMessage(`version must be "${STREAM_VERSION}" or left out, was ${shown(version)}.`)
  }
  if (typeof client_id !== 'string' || typeof client_secret !== 'string') {
    throw new InvalidMessage('authenticate needs client_id and client_secret, both strings.')
  }
  return { clientId: client_id, clientSecret: client_secret, extensions: readExtensions(extensions) }
}

/** The topics as bits, and as they were requested. @throws InvalidMessage */
export function readTopics({ topics }: Message): { readonly bits: number; readonly requested: readonly string[] } {
  if (!Array.isArray(topics) || topics.length === 0)
    throw new InvalidMessage(`topics must be a list of ${TOPIC_NAMES}, was ${shown(topics)}.`)
  if (topics.length === 1 && topics[0] === 'all') return { bits: ALL_TOPICS, requested: ['all'] }
  let bits = 0
  const requested: string[] = []
  for (const topic of topics) {
    const bit = isTopic(topic) ? TOPIC_BITS[topic] : 0
    if (topic === 'all') throw new InvalidMessage('"all" stands alone: topics must be ["all"] or single topics.')
    if (bit === 0) throw new InvalidMessage(`topics must be ${TOPIC_NAMES}, in lower case; found ${shown(topic)}.`)
    if ((bits & bit) !== 0) throw new InvalidMessage(`each topic may be named once in a message; found ${shown(topic)} again.`)
    bits |= bit
    requested.push(topic)
  }
  return { bits, requested }
}

/** @throws InvalidMessage */
export function readSubscribeUser(message: Message): SubscribeUser {
  const { after } = message
  if (after === undefined || after === null) return { userId: readUserId(message), after: null }
  if (typeof after !== 'number' || !Number.isSafeInteger(after) || after < 0) {
    throw new InvalidMessage(`after must be the seq of an update, a whole number from 0, was ${shown(after)}.`)
  }
  return { userId: readUserId(message), after }
}

/** @throws InvalidMessage */
export function readUserId({ user_id }: Message): UserId {
  try {
    return parseUserId(user_id)
  } catch (cause) {
    throw cause instanceof Malformed ? new InvalidMessage(`${cause.message}.`) : cause
  }
}

/** @throws InvalidMessage */
export function readSeq({ seq }: Message): number | undefined {
  if (seq === undefined || seq === null) return undefined
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq))
    throw new InvalidMessage(`seq must be a whole number or left out, was ${shown(seq)}.`)
  return seq
}

const TOPIC_NAMES = `${TOPICS.join(', ')}, or ["all"]`

function isTopic(topic: unknown): topic is keyof typeof TOPIC_BITS {
  return typeof topic === 'string' && Object.hasOwn(TOPIC_BITS, topic)
}

function readExtensions(extensions: unknown): ReadonlySet<string> {
  if (extensions === undefined || extensions === null) return new Set()
  if (!Array.isArray(extensions) || extensions.length > EXTENSIONS_MAX || !extensions.every(name => typeof name === 'string')) {
    throw new InvalidMessage(`extensions must be a list of at most ${EXTENSIONS_MAX} names.`)
  }
  return new Set(extensions)
}
