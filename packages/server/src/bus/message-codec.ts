import { HEALTH_STATES } from '@trunkline/core/domain/account'
import type { UserKey } from '@trunkline/core/domain/ids'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import { BUS_MESSAGE_TYPES, type BusMessage } from '@trunkline/core/ports/bus'
import Type, { type TProperties, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** Messages within a node. */
type OwnMessage = 'events' | 'update_frames' | 'bus_resumed' | 'partitions_followed' | 'connection_health_elsewhere'

/** Every message between nodes that is not an update of a user. */
export type NodeMessage = Exclude<BusMessage, { readonly type: OwnMessage }>

/** The longest message. A longer one is not sent. */
export const MESSAGE_BYTES_MAX = 16 * 1024

const uuid = Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' })
const text = Type.String({ minLength: 1, maxLength: 512 })
const sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const ofUser = { userKey: uuid }
const ofConnection = { userKey: uuid, connectionId: uuid }
const health = Type.Object({
  state: Type.Union(HEALTH_STATES.map(state => Type.Literal(state))),
  since: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$' }),
  reason: Type.Union([Type.String({ maxLength: 4_096 }), Type.Null()])
})

/**
 * Each message with all of its fields. Nodes of the version before read them too: a kind keeps its fields and what they mean. It may get
 * others, which those nodes ignore; they ignore kinds that they do not know.
 */
const FIELDS: { readonly [Kind in NodeMessage['type']]: TProperties } = {
  user_removed: ofUser,
  user_secret_changed: ofUser,
  user_disabled: ofUser,
  connection_changed: ofConnection,
  connection_renewed: { ...ofConnection, wasBroken: Type.Boolean() },
  connection_removed: ofConnection,
  connection_health: { ...ofConnection, health },
  secret_issued: { of: Type.Union([Type.Literal('key'), Type.Literal('user')]), name: text, secretHash: sha256 },
  platform_secret_changed: { platformId: uuid },
  platform_access_ended: { platformId: uuid, keyId: Type.Union([uuid, Type.Null()]) },
  webhooks_changed: { platformId: uuid },
  market_token_used: { userKey: uuid, tokenHash: sha256, address: text },
  node_alive: { nodeId: uuid, members: Type.Array(uuid, { maxItems: 256 }) },
  rates_spent: {
    nodeId: uuid,
    spent: Type.Array(Type.Tuple([text, text, Type.Integer({ minimum: -1e9, maximum: 1e9 })]), { maxItems: 1_024 })
  }
}

const schemas: readonly TSchema[] = Object.entries(FIELDS).map(([type, fields]) => Type.Object({ type: Type.Literal(type), ...fields }))
const validator = Compile(Type.Union([...schemas]))
const isNodeMessage = (value: unknown): value is NodeMessage => validator.Check(value)
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Whether other nodes get the message as JSON. */
export function isForNodes(message: BusMessage): message is NodeMessage {
  return Object.hasOwn(FIELDS, message.type)
}

const OF_OWNERS: ReadonlySet<NodeMessage['type']> = new Set([
  'user_removed',
  'user_secret_changed',
  'user_disabled',
  'connection_changed',
  'connection_renewed',
  'connection_removed'
])

/** The user whose owner acts on the message, if it is published elsewhere; null: none does. */
export function ownersUser(message: NodeMessage): UserKey | null {
  return OF_OWNERS.has(message.type) && 'userKey' in message ? message.userKey : null
}

/** Whether every node acts on the message at once, and nothing else would make it. */
export function isForAll({ type }: NodeMessage): boolean {
  return type === 'platform_secret_changed' || type === 'platform_access_ended'
}

/** What the kinds of newer versions look like. */
const KIND = /^[a-z][a-z_]{0,63}$/
const KNOWN: ReadonlySet<string> = new Set(BUS_MESSAGE_TYPES)

/** A message of a newer version. */
function isOfUnknownKind(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  return typeof value.type === 'string' && KIND.test(value.type) && !KNOWN.has(value.type)
}

/** `unknown`: a message of a kind that this version does not know. @throws Malformed */
export function parseMessage(value: unknown): NodeMessage | 'unknown' {
  if (isNodeMessage(value)) return value
  if (isOfUnknownKind(value)) return 'unknown'
  throw new Malformed('message', 'a message between nodes', value)
}

/** What the parts of this node receive of a message of another. */
export function asReceived(message: NodeMessage): BusMessage {
  // It may be a recorded one, or of a former owner, so its content is not believed: the owner is asked.
  return message.type === 'connection_health' ? { type: 'connection_health_elsewhere', userKey: message.userKey } : message
}

/** @param number above those of all messages before it. Null: too long. */
export function encodeMessage(message: NodeMessage, number: number): Uint8Array | null {
  const bytes = Buffer.from(JSON.stringify({ ...message, number }))
  return bytes.byteLength > MESSAGE_BYTES_MAX ? null : bytes
}

/** `unknown`: a message of a kind that this version does not know. Null: none. */
export function decodeMessage(bytes: Uint8Array): NodeMessage | 'unknown' | null {
  if (bytes.byteLength > MESSAGE_BYTES_MAX) return null
  try {
    return parseMessage(parseJson(decoder.decode(bytes), { depthMax: 4 }))
  } catch {
    return null
  }
}

/** Takes the number off a message that was decoded, so that the rest is what was published. */
export function takeNumber(message: NodeMessage): unknown {
  const number = 'number' in message ? message.number : null
  Reflect.deleteProperty(message, 'number')
  return number
}
