/** The assignment of users to sessions. Users and sessions are numbered; each platform has its own. */
export interface Shape {
  readonly name: string
  readonly what: string
  readonly platforms: number
  readonly usersOfPlatform: number
  readonly sessionsOfPlatform: number
  /** The users of a session, by their number within the platform. */
  readonly watches: (session: number) => readonly number[]
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index)

/** The two shapes of fan-out. */
export const SHAPES: readonly Shape[] = [
  {
    name: 'ten',
    what: '10 sessions of the same 500 users',
    platforms: 1,
    usersOfPlatform: 500,
    sessionsOfPlatform: 10,
    watches: () => range(500)
  },
  {
    // A client may have ten sessions, hence the many platforms. Neighbouring sessions share half of their users, no two share all.
    name: 'thousand',
    what: '1,000 sessions of mixed users',
    platforms: 100,
    usersOfPlatform: 50,
    sessionsOfPlatform: 10,
    watches: session => range(10).map(user => (5 * session + user) % 50)
  }
]

export function shapeNamed(name: string): Shape {
  const shape = SHAPES.find(known => known.name === name)
  if (shape === undefined) throw new Error(`no shape ${name}; there are ${SHAPES.map(known => known.name).join(', ')}`)
  return shape
}

/**
 * The bytes for a session per turn of the event loop. They represent what happens while the previous turn is being written, and decide how
 * much can be batched: 20 updates of 200 bytes are a write of 4 KB. The floors and the service get exactly the same turns.
 */
const UPDATES_PER_TICK = 20

/** Events per turn of the event loop. */
export function eventsPerTick(shape: Shape): number {
  return Math.round((UPDATES_PER_TICK * sessionsOf(shape).length) / watchersOfUser(shape))
}

export interface PlannedSession {
  readonly platform: number
  /** Numbers over all platforms. */
  readonly users: readonly number[]
}

export function sessionsOf({ platforms, usersOfPlatform, sessionsOfPlatform, watches }: Shape): readonly PlannedSession[] {
  return range(platforms * sessionsOfPlatform).map(index => {
    const platform = Math.floor(index / sessionsOfPlatform)
    return { platform, users: watches(index % sessionsOfPlatform).map(user => platform * usersOfPlatform + user) }
  })
}

export function usersOf({ platforms, usersOfPlatform }: Shape): number {
  return platforms * usersOfPlatform
}

/** Deliveries of one event. */
export function watchersOfUser(shape: Shape): number {
  return sessionsOf(shape).reduce((sum, { users }) => sum + users.length, 0) / usersOf(shape)
}

/** The number of updates that a session must receive, from each user's number of events. */
export function expectedUpdates(sessions: readonly PlannedSession[], eventsOfUser: Uint32Array): readonly number[] {
  return sessions.map(({ users }) => users.reduce((sum, user) => sum + (eventsOfUser[user] ?? 0), 0))
}

const EVENT_ID = '0192f0c8-7a4e-7cc1-9b1f-3f6a8d2e5b70'
const ACCOUNT_ID = '0192f0c8-7a4e-7cc1-9b1f-3f6a8d2e5b71'

/** Updates of exactly this many bytes, in the shape of real ones: balances with few fields. */
export class SmallUpdates {
  readonly #bytes: number
  /** The rest after a head of this many characters. */
  readonly #tails: string[] = []

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  text(seq: number, userId: string, eventId: string = EVENT_ID): string {
    const head = `{"type":"balances","seq":${seq},"event_id":"${eventId}","user_id":"${userId}","data":`
    const known = this.#tails[head.length]
    if (known !== undefined) return head + known
    const made = this.#tail(this.#bytes - head.length)
    this.#tails[head.length] = made
    return head + made
  }

  #tail(length: number): string {
    const tail = (cash: string) => `${JSON.stringify({ account_id: ACCOUNT_ID, currency_code: 'USD', cash })}}`
    return tail('9'.repeat(length - tail('').length))
  }
}
