import type { AccountId, ConnectionId, EventId, KeyId, NodeId, PlatformId, UserId, UserKey } from '@trunkline/core/domain/ids'
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { LoggedEvent } from '@trunkline/core/ports/store'

const uuidOf = <Id>(end: number) => `0190a0b0-c0d0-7000-8000-${end.toString(16).padStart(12, '0')}` as Id

/** Users by number; two with the same last byte share a partition. */
export const userKey = (number: number) => uuidOf<UserKey>(number)
export const userId = (key: UserKey) => `user ${key.slice(-4)}` as UserId
export const connectionId = uuidOf<ConnectionId>(0xc0)
const platformId = uuidOf<PlatformId>(0xa0)
const HASH = 'ab'.repeat(32)

/** One message of each kind that every node gets, with every value that a field can have. */
export const MESSAGES: readonly BusMessage[] = [
  { type: 'user_removed', userKey: userKey(1) },
  { type: 'user_secret_changed', userKey: userKey(1) },
  { type: 'connection_changed', userKey: userKey(1), connectionId },
  { type: 'connection_renewed', userKey: userKey(1), connectionId, wasBroken: true },
  { type: 'connection_removed', userKey: userKey(1), connectionId },
  {
    type: 'connection_health',
    userKey: userKey(1),
    connectionId,
    health: { state: 'stale', since: '2026-01-05T15:00:00.123456Z' as Timestamp, reason: 'the broker’s stream is down' }
  },
  {
    type: 'connection_health',
    userKey: userKey(1),
    connectionId,
    health: { state: 'live', since: '2026-01-05T15:00:00.000000Z' as Timestamp, reason: null }
  },
  { type: 'secret_issued', of: 'key', name: 'pk_1', secretHash: HASH },
  { type: 'secret_issued', of: 'user', name: `${platformId} ünïcode "user"`, secretHash: HASH },
  { type: 'platform_secret_changed', platformId },
  { type: 'webhooks_changed', platformId },
  { type: 'platform_access_ended', platformId, keyId: null },
  { type: 'platform_access_ended', platformId, keyId: uuidOf<KeyId>(0xe0) },
  { type: 'user_disabled', userKey: userKey(1) },
  { type: 'market_token_used', userKey: userKey(1), tokenHash: HASH, address: '2001:db8::1' },
  { type: 'node_alive', nodeId: uuidOf<NodeId>(0x0d), members: [uuidOf<NodeId>(0x0d), uuidOf<NodeId>(0x0e)] },
  {
    type: 'rates_spent',
    nodeId: uuidOf<NodeId>(0x0d),
    spent: [
      ['platform', platformId, 400],
      ['platform', `${platformId} ünïcode`, -1]
    ]
  }
]

export function eventOf(key: UserKey, seq: number, text = ''): LoggedEvent {
  return {
    eventId: uuidOf<EventId>(seq),
    ...{ userKey: key, seq, accountId: uuidOf<AccountId>(0xac), at: '2026-01-05T15:00:00.000000Z' as Timestamp },
    ...{ topic: 'positions', data: [], connectionId, accountNumber: `number ${text}` }
  }
}
