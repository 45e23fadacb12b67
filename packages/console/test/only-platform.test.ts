// Lists that are by platform show the only one, and the service's own for replays does not count.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OperatorPlatform } from '../src/generated/admin.ts'
import { onlyPlatform } from '../src/only-platform.ts'

function platform(id: string, isForReplays = false): OperatorPlatform {
  const made = { client_id: `pk_${id}`, claims: false, created_at: '2026-11-20T14:30:00.000000Z', disabled_at: null }
  return { ...made, platform_id: id, name: id, is_for_replays: isForReplays }
}

test('one platform needs no choice, whether or not there is one for replays; two of others do', () => {
  const [one, two, replays] = [platform('one'), platform('two'), platform('replays', true)]
  assert.equal(onlyPlatform([]), undefined)
  assert.equal(onlyPlatform([one]), 'one')
  assert.equal(onlyPlatform([replays, one]), 'one')
  assert.equal(onlyPlatform([replays]), 'replays')
  assert.equal(onlyPlatform([one, two]), undefined)
  assert.equal(onlyPlatform([one, replays, two]), undefined)
})
