import assert from 'node:assert/strict'
import type { CrashPlatform } from './platform.ts'
import type { Replay } from './replay.ts'

const PAGE = 1_000

/** Reads a user's log from the replay's position, and applies it. @throws AssertionError unless every page is answered */
export async function readOn(platform: CrashPlatform, replay: Replay): Promise<void> {
  for (;;) {
    const { userId, seq } = replay
    const path = `/events?user_id=${encodeURIComponent(userId)}&after=${seq}&limit=${PAGE}`
    const { status, body } = await platform.call('GET', path, platform.headers())
    assert.equal(status, 200, JSON.stringify(body))
    for (const update of body.data) replay.apply(update)
    if (body.next_after === null) return
    assert.equal(body.next_after, replay.seq, 'the next page begins where this one ends')
  }
}
