import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedLog } from '../../src/auth/bounded-log.ts'

test('what clients cause is logged at a bounded rate, each message by itself, and what was left out is counted', () => {
  let now = 0
  const lines: (readonly [string, unknown])[] = []
  const keep = (message: string, fields?: Readonly<Record<string, unknown>>) => void lines.push([message, fields?.leftOut])
  const log = new BoundedLog({ debug: keep, info: keep, warn: keep, error: keep }, () => now, { perSecond: 1, burst: 3 })
  for (let at = 0; at < 1_000; at++) log.warn('one', { at })
  log.error('another')
  assert.deepEqual(lines, [...Array(3).fill(['one', undefined]), ['another', undefined]])
  now += 1_000
  log.warn('one', { at: 1_000 })
  assert.deepEqual(lines.at(-1), ['one', 997])
})
