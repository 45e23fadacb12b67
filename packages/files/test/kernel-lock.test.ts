import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeKernelLock } from '../src/kernel-lock.ts'

test('one holder at a time, and the next once it was given up', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-lock-'))
  try {
    const file = join(folder, 'lock')
    const first = takeKernelLock(file)
    assert.ok(first)
    assert.equal(takeKernelLock(file), null)
    first.close()
    assert.equal(statSync(file).mode & 0o77, 0, 'for its owner only')
    const second = takeKernelLock(file)
    assert.ok(second)
    second.close()
    assert.throws(() => takeKernelLock(join(folder, 'missing', 'lock')), /ENOENT/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
