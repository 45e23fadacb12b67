// The users that a batch writes for.
import type { UserKey } from '@trunkline/core/domain/ids'

export interface BatchUsers {
  /** Each once, in the order of their keys: all writers lock them in this order. */
  readonly users: readonly UserKey[]
  /** How many events there are for each at most. */
  readonly published: readonly number[]
  /** The user of each unit: the position in `users`, from 1. */
  readonly userOf: readonly number[]
}

export function usersOf(units: readonly { readonly userKey: UserKey; readonly published: number }[]): BatchUsers {
  const published = new Map<UserKey, number>()
  for (const unit of units) published.set(unit.userKey, (published.get(unit.userKey) ?? 0) + unit.published)
  const users = [...published.keys()].sort()
  const places = new Map(users.map((userKey, index) => [userKey, index + 1]))
  return {
    users,
    published: users.map(userKey => published.get(userKey) ?? 0),
    userOf: units.map(({ userKey }) => places.get(userKey) ?? 0)
  }
}
