// What the streams read by REST, with the REST half of this client.
import type { Trunkline, TrunklineUser } from '../trunkline.ts'
import type { ReadEvents } from './broker/follower.ts'
import type { LiveCopyOptions } from './copy/live-copy.ts'

/** For {@link BrokerStreamOptions.readEvents}: an absence of any length then needs no snapshot, as far as the log reaches back. */
export function eventsOf({ events }: Pick<Trunkline, 'events'>): ReadEvents {
  return (userId, after, signal) => events({ user_id: userId, after, limit: 1_000 }, { signal })
}

/** For {@link LiveCopyOptions}: the records of one user, and how far the user's log reaches. */
export function recordsOf(
  { events }: Pick<Trunkline, 'events'>,
  userId: string,
  { orders, positions, balances }: Pick<TrunklineUser, 'orders' | 'positions' | 'balances'>
): Required<Pick<LiveCopyOptions, 'readSnapshot' | 'readLastSeq'>> {
  return {
    async readSnapshot(signal) {
      const all = { limit: Number.POSITIVE_INFINITY }
      return {
        orders: await orders.list({ limit: 500 }, { signal }).toArray(all),
        positions: await positions.list({}, { signal }),
        balances: await balances.list({}, { signal })
      }
    },
    async readLastSeq(signal) {
      const { value } = await events({ user_id: userId, limit: 1 }, { signal }).pages().next()
      return value === undefined ? 0 : value.answer.last_seq
    }
  }
}
