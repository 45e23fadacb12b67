import type { Brand } from './brand.ts'
import { Malformed } from './malformed.ts'

/** Identifiers of different kinds are not interchangeable. All except `UserId` are lower-case UUIDs made by the service. */
export type PlatformId = Brand<string, 'PlatformId'>
/** A platform's key. The first key of a platform has the platform's id. */
export type KeyId = Brand<string, 'KeyId'>
/** The service's key of a user; it stays unique when a platform deletes a user and creates another with the same name. */
export type UserKey = Brand<string, 'UserKey'>
/** The platform's name for a user: 1 to 64 characters, no control characters, unique within the platform. */
export type UserId = Brand<string, 'UserId'>
export type ConnectionId = Brand<string, 'ConnectionId'>
export type AttemptId = Brand<string, 'AttemptId'>
export type AccountId = Brand<string, 'AccountId'>
export type OrderId = Brand<string, 'OrderId'>
export type EventId = Brand<string, 'EventId'>
export type WebhookEndpointId = Brand<string, 'WebhookEndpointId'>
export type WebhookDeliveryId = Brand<string, 'WebhookDeliveryId'>
export type OperatorSessionId = Brand<string, 'OperatorSessionId'>
export type OperatorKeyId = Brand<string, 'OperatorKeyId'>
/** A process of the service, from its start to its end. */
export type NodeId = Brand<string, 'NodeId'>
export type TransactionId = Brand<string, 'TransactionId'>
/** Upper-case name of a broker, such as `SANDBOX`. */
export type BrokerId = Brand<string, 'BrokerId'>
/** Chosen by the platform: 1 to 64 printable characters, unique per user and trading day. */
export type ClOrdId = Brand<string, 'ClOrdId'>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Parses an identifier made by the service; the caller names its kind. @throws Malformed naming `what`. */
export function parseUuid<Id extends Brand<string, string>>(text: unknown, what: string): Id {
  if (typeof text === 'string' && UUID.test(text)) return text.toLowerCase() as Id
  throw new Malformed(what, 'a UUID', text)
}

// Control, format, surrogate, private-use and unassigned code points: invisible, or able to reorder displayed text.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u

/** @throws Malformed unless 1 to 64 characters, without control characters or outer spaces, which a header cannot carry. */
export function parseUserId(text: unknown, what = 'user_id'): UserId {
  if (typeof text === 'string' && text.length >= 1 && [...text].length <= 64 && !UNPRINTABLE.test(text) && text.trim() === text)
    return text as UserId
  throw new Malformed(what, '1 to 64 characters without control characters and without spaces at its ends', text)
}

/**
 * Parses the name of a new user. `.` and `..` are refused: clients resolve them as path segments, so that they would vanish from request
 * paths.
 * @throws Malformed
 */
export function parseNewUserId(text: unknown, what = 'user_id'): UserId {
  if (text === '.' || text === '..') throw new Malformed(what, 'another name than . and .., which no address can carry', text)
  return parseUserId(text, what)
}

/** @throws Malformed unless 1 to 64 printable ASCII characters. */
export function parseClOrdId(text: unknown, what = 'cl_order_id'): ClOrdId {
  // ASCII only: brokers echo this text through systems that corrupt other characters, and look-alike ids would defeat deduplication.
  if (typeof text === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/.test(text)) return text as ClOrdId
  throw new Malformed(what, '1 to 64 printable ASCII characters without outer spaces', text)
}

/** @throws Malformed unless an upper-case broker name. */
export function parseBrokerId(text: unknown, what = 'broker'): BrokerId {
  if (typeof text === 'string' && /^[A-Z][A-Z0-9_]{1,31}$/.test(text)) return text as BrokerId
  throw new Malformed(what, 'an upper-case broker name such as SANDBOX', text)
}
