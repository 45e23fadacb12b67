import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import fc from 'fast-check'
import { type FairLimits, FairQueue, type Requester } from '../../src/http/fair-queue.ts'

const LIMITS: FairLimits = {
  working: 12,
  platform: { working: 8, waiting: 20 },
  user: { working: 4, waiting: 6 },
  own: { working: 2, waiting: 3 },
  waitMs: 5_000
}

/** A queue whose work ends on demand. */
class Harness {
  readonly clock = new VirtualClock()
  readonly queue: FairQueue
  readonly begun: { readonly who: string; readonly end: () => void }[] = []
  readonly outcomes: string[] = []

  constructor(limits: FairLimits = LIMITS) {
    this.queue = new FairQueue(this.clock, limits)
  }

  ask(who: string): Promise<void> {
    const [platformId = '', user] = who.split('/')
    const requester: Requester = { platformId, userKey: user ?? null }
    const work = () => new Promise<void>(resolve => this.begun.push({ who, end: resolve }))
    return this.queue.run(requester, work).then(
      () => void this.outcomes.push(`${who} done`),
      (error: unknown) => void this.outcomes.push(error instanceof ServiceError ? `${who} ${error.code}` : String(error))
    )
  }

  /** Ends what was begun first. */
  async endOne(): Promise<void> {
    this.begun.shift()?.end()
    await settled()
  }

  working(who: string): number {
    return this.begun.filter(one => one.who === who).length
  }
}

/** Everything that can go on has. */
const settled = () => new Promise(resolve => setImmediate(resolve))

test('a thousand requests of one user fill only that user’s queue, and another user’s request runs at once [S43]', async () => {
  const harness = new Harness()
  for (let at = 0; at < 1_000; at++) void harness.ask('acme/flood')
  await settled()
  assert.equal(harness.working('acme/flood'), LIMITS.user.working)
  const refused = 1_000 - LIMITS.user.working - LIMITS.user.waiting
  assert.equal(harness.outcomes.filter(outcome => outcome === 'acme/flood rate_limited').length, refused)
  for (const who of ['acme/calm', 'acme', 'other/calm']) {
    void harness.ask(who)
    assert.equal(harness.working(who), 1, who)
  }
  const full = () => harness.queue.requireCapacity({ platformId: 'acme', userKey: 'flood' })
  assert.throws(full, (error: unknown) => error instanceof ServiceError && error.code === 'rate_limited' && error.retryAfterSeconds === 1)
  assert.doesNotThrow(() => harness.queue.requireCapacity({ platformId: 'acme', userKey: 'calm' }))
})

test('users who flood together fill their platform’s queue, and a user who need not wait is still served', async () => {
  const harness = new Harness({ ...LIMITS, working: 100, platform: { working: 50, waiting: 20 } })
  for (let user = 0; user < 5; user++) for (let at = 0; at < 20; at++) void harness.ask(`acme/flood${user}`)
  await settled()
  assert.equal(harness.outcomes.length, 5 * 20 - 5 * LIMITS.user.working - 20)
  harness.queue.requireCapacity({ platformId: 'acme', userKey: 'calm' })
  void harness.ask('acme/calm')
  assert.equal(harness.working('acme/calm'), 1)
})

test('waiting requests are served round-robin: first among platforms, then among users', async () => {
  const harness = new Harness({ ...LIMITS, working: 1 })
  void harness.ask('acme/first')
  for (const who of ['acme/a', 'acme/a', 'acme/a', 'acme/b', 'other/c', 'other/c']) void harness.ask(who)
  const order: string[] = []
  for (let at = 0; at < 7; at++) {
    order.push(harness.begun[0]?.who ?? '')
    await harness.endOne()
  }
  assert.deepEqual(order, ['acme/first', 'acme/a', 'other/c', 'acme/b', 'other/c', 'acme/a', 'acme/a'])
})

test('a request that waits too long is refused and not executed', async () => {
  const harness = new Harness()
  for (let at = 0; at < LIMITS.user.working + 1; at++) void harness.ask('acme/a')
  await settled()
  await harness.clock.advance(LIMITS.waitMs)
  await settled()
  assert.deepEqual(harness.outcomes, ['acme/a rate_limited'])
  for (let at = 0; at < LIMITS.user.working; at++) await harness.endOne()
  assert.equal(harness.begun.length, 0, 'it is not begun later')
})

test('the limits hold under any load, and every request ends', async () => {
  const who = fc.constantFrom('acme', 'acme/a', 'acme/b', 'acme/c', 'other/a', 'other/b', 'third')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(who, fc.constant('end')), { maxLength: 120 }), async steps => {
      const harness = new Harness()
      let requested = 0
      for (const step of steps) {
        if (step === 'end') await harness.endOne()
        else {
          requested += 1
          void harness.ask(step)
        }
        assert.ok(harness.begun.length <= LIMITS.working)
        for (const one of new Set(harness.begun.map(({ who }) => who)))
          assert.ok(harness.working(one) <= (one.includes('/') ? LIMITS.user : LIMITS.own).working, one)
        for (const platform of ['acme', 'other', 'third'])
          assert.ok(harness.begun.filter(({ who }) => who.split('/')[0] === platform).length <= LIMITS.platform.working)
      }
      while (harness.begun.length > 0) await harness.endOne()
      await settled()
      assert.equal(harness.outcomes.length, requested)
    })
  )
})
