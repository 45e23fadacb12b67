// Wrong secrets are limited, and clients with a right one are not locked out by them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Attempt } from '@trunkline/core/app/authenticate'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { FailedAttempts } from '../../src/auth/failed-attempts.ts'

function stage() {
  let now = 0
  const attempts = new FailedAttempts({ perSecond: 1, burst: 5 }, () => now, { perSecond: 1, burst: 20 }, { ofAddress: 8, inAll: 20 })
  const mayLookUp = (attempt: Attempt): boolean => {
    try {
      attempts.demandCalm(attempt)
      return true
    } catch {
      return false
    }
  }
  /** How many of so many wrong tries were looked up. */
  const tryWrong = (times: number, attemptOf: (at: number) => Attempt): number => {
    let lookUps = 0
    for (let at = 0; at < times; at++) {
      const attempt = attemptOf(at)
      if (!mayLookUp(attempt)) continue
      lookUps += 1
      try {
        attempts.failed(attempt)
      } catch {}
    }
    return lookUps
  }
  return { attempts, mayLookUp, tryWrong, wait: (ms: number) => (now += ms) }
}

const RIGHT: Attempt = { of: 'key', address: '192.0.2.1', name: 'pk_1', secretHash: 'right' }

test('an address has so many wrong tries; a client that was good there lately is still looked up, by its secret and not by its name [S29]', () => {
  const { attempts, mayLookUp, tryWrong, wait } = stage()
  attempts.proved(RIGHT)
  const wrong = (at: number) => ({ ...RIGHT, secretHash: `wrong-${at}` })
  assert.equal(tryWrong(500, wrong), 5)
  assert.equal(mayLookUp(RIGHT), true)
  assert.equal(mayLookUp({ ...RIGHT, address: '198.51.100.1', secretHash: 'never seen' }), true, 'another address')
  wait(1_000)
  assert.equal(tryWrong(500, wrong), 1)
})

test('a name has so many wrong tries from everywhere, and a secret that was good lately is looked up all the same', () => {
  const { attempts, mayLookUp, tryWrong } = stage()
  attempts.proved(RIGHT)
  const fromEverywhere = (at: number) => ({
    ...RIGHT,
    address: `192.0.${at % 250}.${Math.floor(at / 250)}`,
    name: 'pk_1',
    secretHash: `wrong-${at}`
  })
  assert.equal(tryWrong(500, fromEverywhere), 20)
  assert.equal(mayLookUp({ ...RIGHT, address: '203.0.113.9' }), true)
  assert.equal(mayLookUp({ ...RIGHT, name: 'pk_2', address: '203.0.113.9', secretHash: 'other' }), true, 'another name')
})

test('a secret that has failed was not good lately any more', () => {
  const { attempts, tryWrong } = stage()
  attempts.proved(RIGHT)
  assert.equal(
    tryWrong(500, () => RIGHT),
    5
  )
})

test('of one address so many tries are under way at once, and those that are decided free capacity', () => {
  const { attempts, mayLookUp } = stage()
  const tries = Array.from({ length: 50 }, (_, at) => ({ ...RIGHT, secretHash: `secret-${at}` }))
  const underWay = tries.filter(mayLookUp)
  assert.equal(underWay.length, 8)
  assert.equal(mayLookUp({ ...RIGHT, address: '198.51.100.1', secretHash: 'other' }), true, 'another address')
  const [right, lost, wrong] = underWay
  assert.ok(right !== undefined && lost !== undefined && wrong !== undefined)
  attempts.proved(right)
  attempts.undecided(lost)
  attempts.failed(wrong)
  assert.equal(tries.slice(8).filter(mayLookUp).length, 3)
})

test('of all addresses so many tries are under way at once, but for secrets that were good lately', () => {
  const { attempts, mayLookUp } = stage()
  attempts.proved(RIGHT)
  const tries = Array.from({ length: 50 }, (_, at) => ({ ...RIGHT, address: `192.0.2.${at}`, name: null, secretHash: `secret-${at}` }))
  const underWay = tries.filter(mayLookUp)
  assert.equal(underWay.length, 20)
  assert.equal(mayLookUp(RIGHT), true)
  for (const attempt of underWay) attempts.undecided(attempt)
  assert.equal(tries.slice(20).filter(mayLookUp).length, 20)
})

test('look-ups that fail slow their address down where they are said to, and a secret that was good lately is good still', () => {
  const { attempts, mayLookUp, wait } = stage()
  attempts.proved(RIGHT)
  const unanswered = (times: number) =>
    Array.from({ length: times }, (_, at) => ({ ...RIGHT, name: null, secretHash: `secret-${at}` })).filter(attempt => {
      const isLookedUp = mayLookUp(attempt)
      if (isLookedUp) attempts.unanswered(attempt)
      return isLookedUp
    }).length
  attempts.unanswered(RIGHT)
  assert.equal(unanswered(50), 5)
  assert.equal(mayLookUp(RIGHT), true)
  wait(1_000)
  assert.equal(unanswered(50), 1)
})

test('a key that is used stays known however many users and other keys prove theirs, and one that was not used for longest is forgotten first', () => {
  const { attempts, mayLookUp, tryWrong } = stage()
  attempts.proved(RIGHT)
  for (let at = 0; at < 30_000; at++) {
    assert.equal(mayLookUp(RIGHT), true)
    attempts.proved({ of: 'key', address: null, name: `pk_${at}`, secretHash: 'good' })
  }
  for (let at = 0; at < 30_000; at++) attempts.proved({ of: 'user', address: null, name: `platform user-${at}`, secretHash: `u-${at}` })
  tryWrong(500, at => ({ ...RIGHT, address: `192.0.${at % 250}.${Math.floor(at / 250)}`, secretHash: `wrong-${at}` }))
  assert.equal(mayLookUp(RIGHT), true)
  assert.equal(mayLookUp({ ...RIGHT, secretHash: 'one more' }), false)
})

test('a secret that was just issued is looked up under a flood in its name, though it was never used', () => {
  const { attempts, mayLookUp, tryWrong } = stage()
  const bus = new LocalBus({ debug() {}, info() {}, warn() {}, error() {} })
  const stop = attempts.listenTo(bus)
  attempts.proved(RIGHT)
  const rotated = { ...RIGHT, secretHash: 'rotated' }
  const flood = () => tryWrong(500, at => ({ ...RIGHT, secretHash: `wrong-${at}` }))
  flood()
  assert.equal(mayLookUp(rotated), false)
  bus.publish({ type: 'secret_issued', of: 'key', name: 'pk_1', secretHash: 'rotated' })
  flood()
  assert.equal(mayLookUp(rotated), true)
  stop()
})
