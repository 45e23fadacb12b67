/** A log of one user's events, written separately from publishing. */
import type { AccountId, EventId, UserId, UserKey } from '@trunkline/core/domain/ids'
import type { EventStore, LoggedEvent } from '@trunkline/core/ports/store'

export const ALEX = { userKey: '0190a0b0-c0d0-7000-8000-0000000000a1' as UserKey, userId: 'alex' as UserId }

export class EventLog implements EventStore {
  readonly events: LoggedEvent[] = []
  oldest = 1
  fails = 0
  /** Called once the newest numbers are read, before they are returned. */
  onLastsRead: () => void = () => undefined

  write(count = 1): readonly LoggedEvent[] {
    return Array.from({ length: count }, () => {
      const seq = this.events.length + 1
      const event: LoggedEvent = {
        eventId: `event-${seq}` as EventId,
        ...{ userKey: ALEX.userKey, seq, accountId: 'account' as AccountId, at: '' as LoggedEvent['at'] },
        ...{ topic: 'positions', data: [], connectionId: '' as never, accountNumber: '1' }
      }
      this.events.push(event)
      return event
    })
  }

  async read(userKey: UserKey, after: number, limit: number): Promise<readonly LoggedEvent[]> {
    if (this.fails-- > 0) throw new Error('the store is away')
    return this.events.filter(event => event.userKey === userKey && event.seq > after).slice(0, limit)
  }

  async last(_userKey: UserKey): Promise<number> {
    return this.events.length
  }

  async lasts(userKeys: readonly UserKey[]): Promise<ReadonlyMap<UserKey, number>> {
    const last = this.events.length
    const lasts = new Map(last === 0 ? [] : userKeys.map(userKey => [userKey, last]))
    this.onLastsRead()
    return lasts
  }

  async span(_userKey: UserKey): Promise<{ readonly oldest: number; readonly last: number }> {
    return { oldest: this.oldest, last: this.events.length }
  }

  async prune(): Promise<number> {
    return 0
  }
}
