// The soak itself, for less than half a minute: it runs, prints its readings, and finds nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { soak } from './soak.ts'

test('a short soak is flat, and all records agree at its end', async () => {
  const lines: string[] = []
  const isWell = await soak({ minutes: 0.4, seed: 1, print: line => lines.push(line) })
  assert.ok(isWell, lines.join('\n'))
  assert.match(lines.at(-1) ?? '', /are the same/)
})
