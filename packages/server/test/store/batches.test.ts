// Gathering callers into batches: what shares one, what is refused, and which callers get a failure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { Batches, type BatchLimits } from '../../src/store/writes/batches.ts'
import { testDeps } from './deps.ts'

interface Unit {
  readonly name: string
  readonly size: number
  readonly isUrgent?: boolean
}

const LIMITS: BatchLimits = { batchMax: 4, waitingMax: 12, urgentMax: 2, waitMsMax: 1_000 }

/** Batches whose writes end when the test says so. */
function controlled(limits = LIMITS) {
  const written: string[][] = []
  const gates: { readonly go: () => void; readonly fail: (cause: Error) => void }[] = []
  let nowMs = 0
  const batches = new Batches<Unit, string>(
    async (units, settle) => {
      written.push(units.map(({ name }) => name))
      const gate = Promise.withResolvers<void>()
      gates.push({ go: gate.resolve, fail: gate.reject })
      await gate.promise
      for (const unit of units) settle(unit, () => `${unit.name} done`)
    },
    { ...testDeps().clock, monotonicMs: () => nowMs },
    limits
  )
  return {
    batches,
    written,
    submit: (name: string, size = 1) => batches.submit({ name, size }),
    urgent: (name: string) => batches.submit({ name, size: 1, isUrgent: true }),
    /** Lets the batch in flight end, once there is one. */
    async go(cause?: Error) {
      for (let rounds = 0; gates.length === 0; rounds += 1) {
        assert.ok(rounds < 10_000, 'a batch is in flight')
        await new Promise(setImmediate)
      }
      const gate = gates.shift()
      if (cause === undefined) gate?.go()
      else gate?.fail(cause)
    },
    pass: (ms: number) => {
      nowMs += ms
    }
  }
}

test('callers of one turn of the event loop share a batch, and while it is written the next fills up', async () => {
  const { submit, written, go, batches } = controlled()
  const first = [submit('a'), submit('b')]
  await new Promise(setImmediate)
  const second = [submit('c'), submit('d'), submit('e')]
  await go()
  assert.deepEqual(await Promise.all(first), ['a done', 'b done'])
  await go()
  assert.deepEqual(await Promise.all(second), ['c done', 'd done', 'e done'])
  assert.deepEqual(written, [
    ['a', 'b'],
    ['c', 'd', 'e']
  ])
  assert.deepEqual(batches.stats(), { waiting: 0, batches: 2, changes: 5, largestBatch: 3 })
})

test('a batch is bounded; a unit larger than a batch goes alone; order is kept', async () => {
  const { submit, written, go } = controlled()
  const all = [submit('a', 3), submit('b', 2), submit('c', 5), submit('d', 1)]
  for (let batch = 0; batch < 4; batch += 1) await go()
  await Promise.all(all)
  assert.deepEqual(written, [['a'], ['b'], ['c'], ['d']])
})

test('what would wait beyond the bound is refused, and there is capacity again afterwards', async () => {
  const { submit, go } = controlled()
  const waiting = Array.from({ length: 12 }, (_, index) => submit(`u${index}`))
  await assert.rejects(submit('late'), StoreUnavailable)
  for (let batch = 0; batch < 3; batch += 1) await go()
  await Promise.all(waiting)
  const again = submit('again')
  await go()
  assert.equal(await again, 'again done')
})

test('what has waited too long is refused and not written', async () => {
  const { submit, written, go, pass } = controlled()
  const first = submit('a')
  await new Promise(setImmediate)
  const late = assert.rejects(submit('b'), StoreUnavailable)
  pass(1_001)
  const fresh = submit('c')
  await go()
  await first
  await late
  await go()
  assert.equal(await fresh, 'c done')
  assert.deepEqual(written, [['a'], ['c']])
})

test('a failed batch fails its units and no others', async () => {
  const { submit, go } = controlled()
  const doomed = [submit('a'), submit('b')].map(unit => assert.rejects(unit, /lost/))
  await new Promise(setImmediate)
  const next = submit('c')
  await go(new Error('lost'))
  await Promise.all(doomed)
  await go()
  assert.equal(await next, 'c done')
})

test('closing writes what waits and takes nothing more', async () => {
  const { submit, go, batches } = controlled()
  const waiting = submit('a')
  const closing = batches.close()
  await assert.rejects(submit('b'), StoreUnavailable)
  await go()
  assert.equal(await waiting, 'a done')
  await closing
})

test('a write that forgets a unit does not leave its caller waiting', async () => {
  const batches = new Batches<Unit, string>(async () => {}, testDeps().clock, LIMITS)
  await assert.rejects(batches.submit({ name: 'a', size: 1 }), /without settling/)
})

test('what is urgent goes first, has capacity when there is none for others, and is bounded, too', async () => {
  const { submit, urgent, written, go, batches } = controlled()
  const waiting = Array.from({ length: 12 }, (_, index) => submit(`u${index}`))
  await assert.rejects(submit('late'), StoreUnavailable)
  const cancels = [urgent('c0'), urgent('c1')]
  await assert.rejects(urgent('c2'), StoreUnavailable)
  for (let batch = 0; batch < 4; batch += 1) await go()
  await Promise.all([...waiting, ...cancels])
  assert.deepEqual(written, [
    ['c0', 'c1', 'u0', 'u1'],
    ['u2', 'u3', 'u4', 'u5'],
    ['u6', 'u7', 'u8', 'u9'],
    ['u10', 'u11']
  ])
  assert.equal(batches.stats().waiting, 0)
})

test('what is urgent is written when nothing else waits', async () => {
  const { submit, urgent, written, go } = controlled()
  const others = ['a', 'b', 'c', 'd'].map(name => submit(name))
  await new Promise(setImmediate)
  const cancel = urgent('cancel')
  await go()
  await Promise.all(others)
  await new Promise(setImmediate)
  assert.deepEqual(written, [['a', 'b', 'c', 'd'], ['cancel']])
  await go()
  assert.equal(await cancel, 'cancel done')
})
