// Disturbances during a steady load: sessions that come and go, readers that are slow for a while, and lost streams at the sandbox.
import { setTimeout as delay } from 'node:timers/promises'
import type { Chance, World } from '../../packages/testkit/src/crash/index.ts'

/** The average interval and duration of each, in milliseconds. */
const VISIT_EVERY = 1_500
const VISIT_MAX = 6_000
const VISITS_AT_ONCE_MAX = 5
const VISITED_USERS_MAX = 20
const SLOW_EVERY = 12_000
const SLOW_FOR = 4_000
const SLOW_BYTES_PER_SECOND = 4_000
const DROP_EVERY = 8_000

export interface Disturbances {
  readonly visits: number
  readonly slowSpells: number
  readonly drops: number
}

/** Runs until the signal. Returns the counts of what happened. */
export async function disturb(world: World, chance: Chance, signal: AbortSignal): Promise<Disturbances> {
  const seen = { visits: 0, slowSpells: 0, drops: 0 }
  const visits = new Set<Promise<void>>()
  const every = async (ms: number, once: () => Promise<void>) => {
    while (await pause(2 * ms * chance.fraction(), signal)) await once()
  }
  await Promise.all([
    every(VISIT_EVERY, async () => {
      if (visits.size >= VISITS_AT_ONCE_MAX) return
      seen.visits += 1
      const visit: Promise<void> = startVisit(world, chance, `visit ${seen.visits}`, signal).finally(() => visits.delete(visit))
      visits.add(visit)
    }),
    every(SLOW_EVERY, async () => {
      seen.slowSpells += 1
      world.platformProxy.set('stream', 'toClient', { bytesPerSecond: SLOW_BYTES_PER_SECOND, sliceBytes: 500 })
      await pause(SLOW_FOR, signal)
      world.platformProxy.clear()
    }),
    every(DROP_EVERY, async () => {
      seen.drops += 1
      const login = chance.oneOf(world.users)?.login.username
      await world.sandbox.control('POST', '/streams', { do: 'drop', ...(chance.happens(0.2) ? {} : { login }) })
    })
  ])
  await Promise.all(visits)
  world.platformProxy.clear()
  return seen
}

/** A new session for some of the users, from their beginning, by either way; it receives their whole history, and leaves. */
async function startVisit(world: World, chance: Chance, name: string, signal: AbortSignal): Promise<void> {
  const from = chance.whole(0, world.users.length - 1)
  const users = world.users.slice(from, from + chance.whole(1, VISITED_USERS_MAX)).map(({ userId }) => userId)
  world.follow(name, { users, ...(chance.happens(0.5) ? { origin: () => world.platformProxy.url } : {}) })
  await pause(VISIT_MAX * chance.fraction(), signal)
  await world.unfollow(name)
}

/** False if the signal came. */
export async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}
