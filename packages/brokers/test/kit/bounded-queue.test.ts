import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedQueue } from '../../src/kit/bounded-queue.ts'
import { Refetch } from '../../src/kit/refetch.ts'
import { settled, VirtualClock } from '../support/clocks.ts'

function queueOf(itemsMax = 3) {
  return new BoundedQueue<string>({ itemsMax, overflow: () => ['lost'] })
}

async function all(queue: BoundedQueue<string>): Promise<readonly string[]> {
  const items: string[] = []
  for await (const item of queue) items.push(item)
  return items
}

test('everything put is read in order, before the end', async () => {
  const queue = queueOf()
  const reading = all(queue)
  queue.put('a')
  queue.put('b')
  await settled()
  queue.put('c')
  queue.end()
  queue.put('d')
  assert.deepEqual(await reading, ['a', 'b', 'c'])
})

test('at the bound what waited is given up, and the reader receives that', async () => {
  const queue = queueOf()
  for (const item of ['a', 'b', 'c', 'd', 'e']) queue.put(item)
  queue.end()
  assert.deepEqual(await all(queue), ['lost', 'd', 'e'])
})

test('of one state only the newest waits, in the place of the first; once read it starts again', async () => {
  const queue = queueOf(10)
  const put = (item: string) => queue.put(item, item.includes('=') ? (item.split('=')[0] ?? null) : null)
  for (const item of ['a=1', 'fill', 'b=1', 'a=2', 'fill', 'a=3']) put(item)
  const reader = queue[Symbol.asyncIterator]()
  const read: (string | undefined)[] = []
  for (let index = 0; index < 4; index += 1) read.push((await reader.next()).value ?? undefined)
  put('a=4')
  queue.end()
  read.push((await reader.next()).value ?? undefined)
  assert.deepEqual(read, ['a=3', 'fill', 'b=1', 'fill', 'a=4'])
})

test('what was read already is not replaced, and the bound counts what waits only', async () => {
  const queue = queueOf(3)
  queue.put('a=1', 'a')
  queue.put('b')
  assert.equal((await queue.next()).value, 'a=1')
  queue.put('a=2', 'a')
  queue.put('c')
  queue.put('d')
  queue.end()
  assert.deepEqual(await all(queue), ['lost', 'd'])
})

test('a failure comes after what was waiting', async () => {
  const queue = queueOf()
  queue.put('a')
  queue.fail(new Error('broken'))
  const items: string[] = []
  await assert.rejects(async () => {
    for await (const item of queue) items.push(item)
  }, /broken/)
  assert.deepEqual(items, ['a'])
})

test('changes of a key are read together, one read at a time, and not too often', async () => {
  const clock = new VirtualClock()
  const reads: string[] = []
  await using refetch = new Refetch({
    clock,
    spacingMs: 100,
    read: async key => void reads.push(`${key} at ${clock.monotonicMs()}`),
    failed: () => assert.fail()
  })
  for (let index = 0; index < 5; index += 1) refetch.changed('a')
  refetch.changed('b')
  await clock.advance(0)
  refetch.changed('a')
  refetch.changed('a')
  await clock.advance(500)
  refetch.changed('a')
  await clock.advance(500)
  assert.deepEqual(reads, ['a at 1000', 'b at 1000', 'a at 1100', 'a at 1500'])
})

test('a read that failed is reported once; closing reports nothing and waits for what runs', async () => {
  const clock = new VirtualClock()
  const failed: string[] = []
  const refetch = new Refetch({
    clock,
    spacingMs: 100,
    read: (key, signal) =>
      key === 'bad'
        ? Promise.reject(new Error('no'))
        : new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    failed: key => failed.push(key)
  })
  refetch.changed('bad')
  refetch.changed('slow')
  await settled()
  assert.deepEqual(failed, ['bad'])
  await refetch[Symbol.asyncDispose]()
  refetch.changed('late')
  await settled()
  assert.deepEqual(failed, ['bad'])
})
