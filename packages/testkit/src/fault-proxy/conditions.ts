/** What a link does to the bytes of one direction. */
export interface Conditions {
  /** The link is dead without either side noticing: the sender is read until the buffers are full, and nothing comes out. */
  readonly held: boolean
  /** A chunk comes out so much later, give or take the jitter; bytes keep their order. Milliseconds. */
  readonly latencyMs: number
  readonly jitterMs: number
  /** Comes out in pieces of at most so many bytes, each a write in a separate turn of the event loop; null: as it came. */
  readonly sliceBytes: number | null
  /** Null: as fast as it comes. */
  readonly bytesPerSecond: number | null
}

export const CLEAR: Conditions = { held: false, latencyMs: 0, jitterMs: 0, sliceBytes: null, bytesPerSecond: null }

export const BOTH_WAYS = ['toServer', 'toClient'] as const
export type Direction = (typeof BOTH_WAYS)[number]

/** `stream`: a WebSocket, recognized by its first request. `request`: everything else, and what has not sent anything yet. */
export type LinkKind = 'stream' | 'request'

/** The faults of all links of a kind. */
export type LinkConditions = Readonly<Record<Direction, Conditions>>

export const UNIMPAIRED: LinkConditions = { toServer: CLEAR, toClient: CLEAR }
