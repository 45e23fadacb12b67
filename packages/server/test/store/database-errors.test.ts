import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import { DatabaseError } from 'pg'
import { aroundCommit, beforeCommit } from '../../src/store/faults.ts'

function refusal(code: string, message: string): DatabaseError {
  const error = new DatabaseError(message, message.length, 'error')
  return Object.assign(error, { code, severity: 'ERROR' })
}

test('a database without space is unavailable, whether PostgreSQL has a code for it or not, and nothing was changed', () => {
  for (const error of [
    refusal('53100', 'could not extend file "base/5/16397": No space left on device'),
    refusal('XX000', 'could not extend file "base/5/16397": File too large'),
    refusal('XX000', 'could not extend file "base/5/16397" with FileFallocate(): Disk quota exceeded')
  ]) {
    for (const found of [beforeCommit(error), aroundCommit(error)]) {
      assert.ok(found instanceof StoreUnavailable, error.message)
      assert.equal(found.cause, error)
    }
  }
})

test('another refusal stays what it is, and a lost connection around a commit is unknown', () => {
  const bug = refusal('XX000', 'cache lookup failed for function 16397')
  assert.deepEqual([beforeCommit(bug), aroundCommit(bug)], [bug, bug])
  assert.ok(aroundCommit(new Error('Connection terminated unexpectedly')) instanceof CommitUnknown)
})
