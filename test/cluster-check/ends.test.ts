// Which ends of a node the check takes for its own doing, and how it measures the machine.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type End, Explanations, LEASE_DISTURBANCES, LEASE_LOST } from './ends.ts'
import { Machine } from './machine.ts'

const CRASH = 70
const AT = 100_000
const END: End = { code: LEASE_LOST, wasReady: true, at: AT, lateMs: () => 20 }

test('an undisturbed node that crashes or loses its lease is explained by nothing', () => {
  const undisturbed = new Explanations()
  undisturbed.began()
  for (const code of [CRASH, LEASE_LOST, 0, 1, 75, 'SIGKILL', 'SIGTERM']) assert.equal(undisturbed.explains({ ...END, code }), false)
})

test('a crash is explained by no disturbance, not even before the node was ready', () => {
  const node = new Explanations()
  for (const disturbance of LEASE_DISTURBANCES) node.disturbLease(disturbance)
  node.expect('SIGKILL', 0, 'SIGTERM')
  for (const wasReady of [true, false]) assert.equal(node.explains({ ...END, wasReady, code: CRASH }), false)
})

for (const disturbance of LEASE_DISTURBANCES) {
  test(`a lease is lost by a disturbance (${disturbance}) while it goes on and shortly after, and not later`, () => {
    const node = new Explanations()
    node.disturbLease(disturbance)
    assert.equal(node.explains(END), true)
    node.freeLease(disturbance, AT)
    assert.equal(node.explains({ ...END, at: AT + 4_000 }), true)
    assert.equal(node.explains({ ...END, at: AT + 6_000 }), false)
  })
}

test('a lease that is lost on a machine that stood still is nobody’s fault', () => {
  assert.equal(new Explanations().explains({ ...END, lateMs: () => 2_500 }), true)
})

test('a signal is expected of the process that was given it, and a failed start of one that was never ready', () => {
  const node = new Explanations()
  node.expect('SIGKILL')
  assert.equal(node.explains({ ...END, code: 'SIGKILL' }), true)
  node.began()
  assert.equal(node.explains({ ...END, code: 'SIGKILL' }), false)
  assert.equal(node.explains({ ...END, code: 1, wasReady: false }), true)
})

test('a machine is as late as the latest of its timer and its waits, of what still waits too', async () => {
  let nowMs = 0
  const pass = (ms: number) => {
    nowMs += ms
  }
  const waits = { timer: 0, disk: 0 }
  const held = Promise.withResolvers<void>()
  let isHeld = false
  const machine = new Machine({
    nowMs: () => nowMs,
    sleep: async ms => pass(ms + waits.timer),
    waits: [async () => pass(waits.disk), async () => (isHeld ? await held.promise : undefined)]
  })
  await machine.sample()
  assert.equal(machine.lateMs(0), 0)
  waits.timer = 300
  await machine.sample()
  assert.equal(machine.lateMs(0), 300)
  waits.timer = 0
  waits.disk = 700
  await machine.sample()
  assert.equal(machine.lateMs(0), 700)
  const since = nowMs + 1
  waits.disk = 0
  await machine.sample()
  assert.equal(machine.lateMs(since), 0)
  isHeld = true
  const going = machine.sample()
  await new Promise(resolve => setImmediate(resolve))
  nowMs += 5_000
  assert.equal(machine.lateMs(since), 5_000)
  held.resolve()
  await going
  assert.equal(machine.lateMs(since), 5_000)
})
