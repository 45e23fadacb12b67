import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Semaphore } from '@trunkline/core/app/semaphore'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'

const never = new AbortController().signal

function setup(atOnce = 2, ms = 1_000) {
  const clock = new VirtualClock()
  const semaphore = new Semaphore<string>(clock, { atOnce, ms })
  const begun: string[] = []
  const gates = new Map<string, PromiseWithResolvers<string>>()
  const take = (key: string, name: string, signal = never) => {
    const gate = Promise.withResolvers<string>()
    gates.set(name, gate)
    const taken = semaphore.take(
      key,
      () => {
        begun.push(name)
        return gate.promise
      },
      signal
    )
    taken.catch(() => undefined)
    return taken
  }
  const end = async (name: string) => {
    gates.get(name)?.resolve(name)
    await clock.settled()
  }
  return { clock, begun, take, end, fail: (name: string) => gates.get(name)?.reject(new Error(name)) }
}

test('a bounded number run at once, in the order of the calls, and each key has its own queue', async () => {
  const { clock, begun, take, end } = setup()
  const first = take('a', 'a1')
  for (const name of ['a2', 'a3', 'a4']) void take('a', name)
  void take('b', 'b1')
  await clock.settled()
  assert.deepEqual(begun, ['a1', 'a2', 'b1'])
  await end('a2')
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3'])
  await end('a1')
  assert.equal(await first, 'a1')
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'a4'])
})

test('work that fails releases its slot, and fails for its own caller', async () => {
  const { clock, begun, take, fail } = setup(1)
  const failing = take('a', 'a1')
  void take('a', 'a2')
  fail('a1')
  await assert.rejects(failing, /a1/)
  await clock.settled()
  assert.deepEqual(begun, ['a1', 'a2'])
})

test('work that hangs keeps its slot only for its time limit, and may end later', async () => {
  const { clock, begun, take, end } = setup(1)
  const hanging = take('a', 'a1')
  void take('a', 'a2')
  void take('a', 'a3')
  await clock.advance(999)
  assert.deepEqual(begun, ['a1'])
  await clock.advance(1)
  assert.deepEqual(begun, ['a1', 'a2'])
  await end('a1')
  assert.equal(await hanging, 'a1')
  assert.deepEqual(begun, ['a1', 'a2'], 'its slot passed on once')
  await clock.advance(1_000)
  assert.deepEqual(begun, ['a1', 'a2', 'a3'])
})

test('a caller that gives up leaves the queue, and takes no slot', async () => {
  const { clock, begun, take, end } = setup(1)
  void take('a', 'a1')
  const giveUp = new AbortController()
  const left = take('a', 'a2', giveUp.signal)
  void take('a', 'a3')
  await clock.settled()
  giveUp.abort(new Error('enough'))
  await assert.rejects(left, /enough/)
  await assert.rejects(take('a', 'a4', giveUp.signal), /enough/)
  await end('a1')
  assert.deepEqual(begun, ['a1', 'a3'])
  await end('a3')
  void take('a', 'a5')
  await clock.settled()
  assert.deepEqual(begun, ['a1', 'a3', 'a5'])
})

test('work that throws before it starts releases its slot', async () => {
  const semaphore = new Semaphore<string>(new VirtualClock(), { atOnce: 1, ms: 1_000 })
  const { signal } = new AbortController()
  const thrown = semaphore.take(
    'key',
    () => {
      throw new Error('at once')
    },
    signal
  )
  await assert.rejects(thrown, /at once/)
  assert.equal(await semaphore.take('key', async () => 'next', signal), 'next')
})
