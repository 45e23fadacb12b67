import type { Balance, Order, Position } from '../../generated/openapi.ts'

interface Numbered {
  /** Counts the user's updates: 1, 2, 3 … over all kinds, without a gap. */
  readonly seq: number
  readonly event_id: string
  readonly user_id: string
}

/** Whole records, never differences. A closed position comes once more, with the quantity 0. */
export type Update =
  | (Numbered & { readonly type: 'orders'; readonly data: Order })
  | (Numbered & { readonly type: 'positions'; readonly data: readonly Position[] })
  | (Numbered & { readonly type: 'balances'; readonly data: Balance })

/** How a connection of the user follows its broker: at the beginning, and at each change. */
export interface ConnectionHealth {
  readonly type: 'stream_status'
  readonly user_id: string
  readonly connection_id: string
  readonly status: 'ACTIVE' | 'BROKEN'
  readonly health: 'live' | 'polling' | 'stale' | 'broken'
  readonly since: string
  readonly reason: string | null
}

/** What {@link BrokerStream.follow} yields. */
export type Followed =
  | Update
  | ConnectionHealth
  /**
   * Read a snapshot by REST now: it includes every update up to `seq`, and the updates after `seq` follow. `reason` is null at the first
   * beginning; later it says why the updates in between could not be had.
   */
  | { readonly type: 'begin'; readonly seq: number; readonly reason: string | null }
  /** Everything up to `seq` was yielded, and the next updates come as they happen. */
  | { readonly type: 'live'; readonly seq: number }
  /** No connection to the service. Nothing is lost: what happens meanwhile is yielded before the next `live`. */
  | { readonly type: 'interrupted'; readonly reason: string }
  /** The user was deleted; nothing follows. */
  | { readonly type: 'deleted' }
