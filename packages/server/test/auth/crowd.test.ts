import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addressGroup, networkGroup } from '../../src/auth/address.ts'
import { Crowd } from '../../src/auth/crowd.ts'

const LIMITS = { total: 10, perAddress: 3, perNetwork: 6, graceMs: 5_000 }

function crowd(limits = LIMITS) {
  let now = 0
  const members = new Crowd<string>(limits, () => now)
  return { members, wait: (ms: number) => (now += ms) }
}

test('addresses are grouped as one host and one network have them', () => {
  assert.deepEqual(
    ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8:1:2:3::4', '::1'].map(ip => [addressGroup(ip), networkGroup(ip)]),
    [
      ['192.0.2.7', '192.0.2'],
      ['192.0.2.7', '192.0.2'],
      ['2001:db8:1:2', '2001:db8:1'],
      ['0:0:0:0', '0:0:0']
    ]
  )
})

test('an address, and a network, at its bound loses its own oldest and nobody else’s [S47]', () => {
  const { members } = crowd()
  assert.equal(members.add('beside', '198.51.100.1'), null)
  for (const name of ['a1', 'a2', 'a3']) assert.equal(members.add(name, '192.0.2.1'), null)
  assert.equal(members.add('a4', '192.0.2.1'), 'a1')
  for (const name of ['b1', 'b2', 'b3']) assert.equal(members.add(name, '192.0.2.2'), null)
  assert.equal(members.add('c1', '192.0.2.3'), 'a2')
  assert.ok(members.has('beside'))
})

test('when there are too many in all, the oldest past its grace goes, else the oldest of the most crowded network [S47]', () => {
  const { members, wait } = crowd()
  members.add('alone', '203.0.113.9')
  for (let index = 0; index < 5; index++) members.add(`crowded-${index}`, `192.0.2.${index}`)
  for (let index = 0; index < 4; index++) members.add(`few-${index}`, `198.51.100.${index}`)
  assert.equal(members.add('new-1', '203.0.113.1'), 'crowded-0')
  wait(5_000)
  assert.equal(members.add('new-2', '203.0.113.2'), 'alone')
})

test('one that has shown something meanwhile is not sent away for anybody', () => {
  const { members } = crowd()
  for (const name of ['a1', 'a2', 'a3']) members.add(name, '192.0.2.1')
  const isSettled = (name: string) => name === 'a1'
  assert.equal(members.add('a4', '192.0.2.1', isSettled), null)
  assert.ok(!members.has('a1'))
  assert.equal(members.add('a5', '192.0.2.1', isSettled), 'a2')
})

test('whatever comes and goes, no bound is exceeded, and a newcomer is always taken in', () => {
  const step = fc.record({
    ip: fc.integer({ min: 0, max: 40 }),
    wait: fc.integer({ min: 0, max: 3_000 }),
    leaves: fc.integer({ min: 0, max: 3 })
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const { members, wait } = crowd()
      const inside = new Map<string, string>()
      for (const [index, { ip, wait: ms, leaves }] of steps.entries()) {
        wait(ms)
        if (leaves === 0) {
          const [first] = inside.keys()
          if (first !== undefined) {
            members.delete(first)
            inside.delete(first)
          }
        }
        const address = `192.0.${ip % 5}.${ip}`
        const gone = members.add(String(index), address)
        if (gone !== null) assert.ok(inside.delete(gone))
        inside.set(String(index), address)
        assert.equal(members.size, inside.size)
        assert.ok(members.has(String(index)) && inside.size <= LIMITS.total)
        const addresses = [...inside.values()]
        for (const one of addresses) {
          assert.ok(addresses.filter(other => other === one).length <= LIMITS.perAddress)
          assert.ok(addresses.filter(other => networkGroup(other) === networkGroup(one)).length <= LIMITS.perNetwork)
        }
      }
    })
  )
})
