import type { Brand } from './brand.ts'
import { Malformed } from './malformed.ts'

/** Identifiers of different kinds are not interchangeable. All but `UserId` are lower-case UUIDs made by the service. */
export type PlatformId = Brand<string, 'PlatformId'>
/** Of a platform's key. The first key of a platform has the platform's own id. */
export type KeyId = Brand<string, 'KeyId'>
/** The service's own key of a user; stays unique when a platform deletes a user and creates one of the same name. */
export type UserKey = Brand<string, 'UserKey'>
/** The platform's name for a user: 1 to 64 characters, no control characters, unique within the platform. */
export type UserId = Brand<string, 'UserId'>
export type ConnectionId = Brand<string, 'ConnectionId'>
export type AttemptId = Brand<string, 'AttemptId'>
export type AccountId = Brand<string, 'AccountId'>
export type OrderId = Brand<string, 'OrderId'>
export type EventId = Brand<string, 'EventId'>
export type TransactionId = Brand<string, 'TransactionId'>
/** Upper-case name of a broker, such as `SANDBOX`. */
export type BrokerId = Brand<string, 'BrokerId'>
/** Chosen by the platform: 1 to 64 printable characters, unique per user and trading day. */
export type ClOrdId = Brand<string, 'ClOrdId'>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Reads an identifier the service made. The kind is the caller's to name. @throws Malformed naming `what`. */
export function parseUuid<Id extends Brand<string, string>>(text: unknown, what: string): Id {
  if (typeof text === 'string' && UUID.test(text)) return text.toLowerCase() as Id
  throw new Malformed(what, 'a UUID', text)
}

// Control, format, surrogate, private and unassigned code points: invisible or able to reorder what a reader sees.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u

/** @throws Malformed unless 1 to 64 characters without control characters, and no space at either end: a header could not carry it. */
export function parseUserId(text: unknown, what = 'user_id'): UserId {
  if (typeof text === 'string' && text.length >= 1 && [...text].length <= 64 && !UNPRINTABLE.test(text) && text.trim() === text)
    return text as UserId
  throw new Malformed(what, '1 to 64 characters without control characters and without spaces at its ends', text)
}

/**
 * The name of a user who is to be made. `.` and `..` would vanish from the path of every request about the user: clients take them for steps.
 * @throws Malformed
 */
export function parseNewUserId(text: unknown, what = 'user_id'): UserId {
  if (text === '.' || text === '..') throw new Malformed(what, 'another name than . and .., which no address can carry', text)
  return parseUserId(text, what)
}

/** @throws Malformed unless 1 to 64 printable ASCII characters. */
export function parseClOrdId(text: unknown, what = 'cl_order_id'): ClOrdId {
  // ASCII only: brokers echo this text through systems that mangle anything else, and look-alike ids defeat de-duplication.
  if (typeof text === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,62}[\x21-\x7e])?$/.test(text)) return text as ClOrdId
  throw new Malformed(what, '1 to 64 printable ASCII characters without outer spaces', text)
}

/** @throws Malformed unless an upper-case broker name. */
export function parseBrokerId(text: unknown, what = 'broker'): BrokerId {
  if (typeof text === 'string' && /^[A-Z][A-Z0-9_]{1,31}$/.test(text)) return text as BrokerId
  throw new Malformed(what, 'an upper-case broker name such as SANDBOX', text)
}
