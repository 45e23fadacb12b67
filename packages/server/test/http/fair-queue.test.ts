import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import fc from 'fast-check'
import { type Asker, type FairLimits, FairQueue } from '../../src/http/fair-queue.ts'

const LIMITS: FairLimits = {
  working: 12,
  platform: { working: 8, waiting: 20 },
  user: { working: 4, waiting: 6 },
  own: { working: 2, waiting: 3 },
  waitMs: 5_000
}

/** A queue whose work ends when it is told to. */
class Desk {
  readonly clock = new VirtualClock()
  readonly queue: FairQueue
  readonly begun: { readonly who: string; readonly end: () => void }[] = []
  readonly outcomes: string[] = []

  constructor(limits: FairLimits = LIMITS) {
    this.queue = new FairQueue(this.clock, limits)
  }

  ask(who: string): Promise<void> {
    const [platformId = '', user] = who.split('/')
    const asker: Asker = { platformId, userKey: user ?? null }
    const work = () => new Promise<void>(resolve => this.begun.push({ who, end: resolve }))
    return this.queue.run(asker, work).then(
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

test('one user’s thousand requests fill its own queue and are refused from there on, and another’s goes through at once [S43]', async () => {
  const desk = new Desk()
  for (let at = 0; at < 1_000; at++) void desk.ask('acme/flood')
  await settled()
  assert.equal(desk.working('acme/flood'), LIMITS.user.working)
  const refused = 1_000 - LIMITS.user.working - LIMITS.user.waiting
  assert.equal(desk.outcomes.filter(outcome => outcome === 'acme/flood rate_limited').length, refused)
  for (const who of ['acme/calm', 'acme', 'other/calm']) {
    void desk.ask(who)
    assert.equal(desk.working(who), 1, who)
  }
  const full = () => desk.queue.demandRoom({ platformId: 'acme', userKey: 'flood' })
  assert.throws(full, (error: unknown) => error instanceof ServiceError && error.code === 'rate_limited' && error.retryAfterSeconds === 1)
  assert.doesNotThrow(() => desk.queue.demandRoom({ platformId: 'acme', userKey: 'calm' }))
})

test('users who flood together fill the queue of their platform, and one who need not wait is let through', async () => {
  const desk = new Desk({ ...LIMITS, working: 100, platform: { working: 50, waiting: 20 } })
  for (let user = 0; user < 5; user++) for (let at = 0; at < 20; at++) void desk.ask(`acme/flood${user}`)
  await settled()
  assert.equal(desk.outcomes.length, 5 * 20 - 5 * LIMITS.user.working - 20)
  desk.queue.demandRoom({ platformId: 'acme', userKey: 'calm' })
  void desk.ask('acme/calm')
  assert.equal(desk.working('acme/calm'), 1)
})

test('those who wait are served in turn: first among platforms, then among users', async () => {
  const desk = new Desk({ ...LIMITS, working: 1 })
  void desk.ask('acme/first')
  for (const who of ['acme/a', 'acme/a', 'acme/a', 'acme/b', 'other/c', 'other/c']) void desk.ask(who)
  const order: string[] = []
  for (let at = 0; at < 7; at++) {
    order.push(desk.begun[0]?.who ?? '')
    await desk.endOne()
  }
  assert.deepEqual(order, ['acme/first', 'acme/a', 'other/c', 'acme/b', 'other/c', 'acme/a', 'acme/a'])
})

test('a request that waits too long is refused, and nothing of it is done', async () => {
  const desk = new Desk()
  for (let at = 0; at < LIMITS.user.working + 1; at++) void desk.ask('acme/a')
  await settled()
  await desk.clock.advance(LIMITS.waitMs)
  await settled()
  assert.deepEqual(desk.outcomes, ['acme/a rate_limited'])
  for (let at = 0; at < LIMITS.user.working; at++) await desk.endOne()
  assert.equal(desk.begun.length, 0, 'it is not begun later')
})

test('the bounds hold whatever comes, nothing is lost, and nobody is forgotten', async () => {
  const who = fc.constantFrom('acme', 'acme/a', 'acme/b', 'acme/c', 'other/a', 'other/b', 'third')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(who, fc.constant('end')), { maxLength: 120 }), async acts => {
      const desk = new Desk()
      let asked = 0
      for (const act of acts) {
        if (act === 'end') await desk.endOne()
        else {
          asked += 1
          void desk.ask(act)
        }
        assert.ok(desk.begun.length <= LIMITS.working)
        for (const one of new Set(desk.begun.map(({ who }) => who)))
          assert.ok(desk.working(one) <= (one.includes('/') ? LIMITS.user : LIMITS.own).working, one)
        for (const platform of ['acme', 'other', 'third'])
          assert.ok(desk.begun.filter(({ who }) => who.split('/')[0] === platform).length <= LIMITS.platform.working)
      }
      while (desk.begun.length > 0) await desk.endOne()
      await settled()
      assert.equal(desk.outcomes.length, asked)
    })
  )
})
