// A form that a browser sends twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DoubleSubmitGuard } from '../../src/portal/double-submit.ts'

const always = () => true

function scene() {
  let now = 0
  let count = 0
  const guard = new DoubleSubmitGuard<number>({ monotonicMs: () => now })
  const isKnown = async () => true
  const clicks = {
    answer: (form: string, work: () => Promise<number>, isFinal: (answer: number) => boolean) =>
      guard.answer({ form, isKnown }, work, isFinal)
  }
  const work = async () => {
    count += 1
    return count
  }
  return { clicks, work, pass: (ms: number) => (now += ms), count: () => count }
}

test('the same form is executed once in ten seconds; different forms are independent', async () => {
  const { clicks, work, pass, count } = scene()
  assert.deepEqual(await Promise.all([clicks.answer('a', work, always), clicks.answer('a', work, always)]), [1, 1])
  assert.equal(await clicks.answer('b', work, always), 2)
  pass(9_999)
  assert.equal(await clicks.answer('a', work, always), 1)
  pass(1)
  assert.equal(await clicks.answer('a', work, always), 3)
  assert.equal(count(), 3)
})

test('a result that may be retried, or a failure, is remembered only while it is pending', async () => {
  const { clicks, work } = scene()
  const never = () => false
  assert.deepEqual(await Promise.all([clicks.answer('a', work, never), clicks.answer('a', work, never)]), [1, 1])
  assert.equal(await clicks.answer('a', work, never), 2)
  const failing = () => Promise.reject(new Error('down'))
  const both = await Promise.allSettled([clicks.answer('b', failing, always), clicks.answer('b', work, always)])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected']
  )
  assert.equal(await clicks.answer('b', work, always), 3)
})

test('a thousand forms are remembered; further ones are executed without evicting an older one', async () => {
  const { clicks, work, pass } = scene()
  for (let form = 0; form < 1_000; form++) await clicks.answer(`f${form}`, work, always)
  assert.deepEqual([await clicks.answer('more', work, always), await clicks.answer('more', work, always)], [1_001, 1_002])
  assert.equal(await clicks.answer('f0', work, always), 1)
  pass(10_000)
  assert.deepEqual([await clicks.answer('more', work, always), await clicks.answer('more', work, always)], [1_003, 1_003])
})
