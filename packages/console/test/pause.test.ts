import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { pause } from '../src/pause.ts'

const HOUR_MS = 3_600_000

test('a wait leaves nothing at its signal, however often there is one', async () => {
  const { signal } = new AbortController()
  for (let waits = 0; waits < 3; waits++) await pause(0, signal)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a wait that nobody needs any more ends at once', async () => {
  const stop = new AbortController()
  const waiting = pause(HOUR_MS, stop.signal)
  stop.abort()
  await waiting
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
})
