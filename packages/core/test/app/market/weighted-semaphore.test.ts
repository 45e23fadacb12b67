import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WeightedSemaphore } from '@trunkline/core/app/market/weighted-semaphore'

const NEVER = new AbortController().signal
const settled = () => new Promise<void>(resolve => setImmediate(resolve))

test('work begins in order while the work in progress weighs no more than the bound, and heavier work runs alone', async () => {
  const semaphore = new WeightedSemaphore(10)
  const begun: string[] = []
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const stopping = new AbortController()
  const ask = (name: string, weight: number) => {
    const gate = Promise.withResolvers<void>()
    gates.set(name, gate)
    const work = () => {
      begun.push(name)
      return gate.promise
    }
    return semaphore.take(weight, work, stopping.signal)
  }
  const done = Promise.allSettled([ask('a', 6), ask('b', 4), ask('c', 3), ask('d', 99), ask('e', 1)])
  await settled()
  assert.deepEqual(begun, ['a', 'b'])
  gates.get('b')?.resolve()
  await settled()
  assert.deepEqual(begun, ['a', 'b', 'c'])
  gates.get('a')?.reject(new Error('failed'))
  gates.get('c')?.resolve()
  await settled()
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  stopping.abort(new Error('over'))
  gates.get('d')?.resolve()
  assert.deepEqual(
    (await done).map(({ status }) => status),
    ['rejected', 'fulfilled', 'fulfilled', 'fulfilled', 'rejected']
  )
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
})

test('light work does not overtake heavy work that waits', async () => {
  const semaphore = new WeightedSemaphore(10)
  const begun: string[] = []
  const hold = Promise.withResolvers<void>()
  const work = (name: string) => async () => {
    begun.push(name)
    await hold.promise
  }
  const done = Promise.all([
    semaphore.take(6, work('holder'), NEVER),
    semaphore.take(9, work('heavy'), NEVER),
    semaphore.take(1, work('light'), NEVER)
  ])
  await settled()
  assert.deepEqual(begun, ['holder'])
  hold.resolve()
  await done
  assert.deepEqual(begun, ['holder', 'heavy', 'light'])
})

test('when waiting work gives up, the work behind it begins', async () => {
  const semaphore = new WeightedSemaphore(10)
  const hold = Promise.withResolvers<void>()
  const holder = semaphore.take(6, () => hold.promise, NEVER)
  const stopping = new AbortController()
  const heavy = assert.rejects(
    semaphore.take(9, () => assert.fail('it gave up'), stopping.signal),
    /over/
  )
  const light = semaphore.take(1, async () => 'light', NEVER)
  stopping.abort(new Error('over'))
  await heavy
  assert.equal(await light, 'light')
  hold.resolve()
  await holder
})
