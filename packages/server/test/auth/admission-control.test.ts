import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addressGroup, networkGroup } from '../../src/auth/address.ts'
import { AdmissionControl } from '../../src/auth/admission-control.ts'

const LIMITS = { total: 10, perAddress: 3, perNetwork: 6, graceMs: 5_000 }

function setUp(limits = LIMITS) {
  let now = 0
  const members = new AdmissionControl<string>(limits, () => now)
  /** The one that was evicted for it, null for none, or undefined: it was refused. */
  const come = (member: string, ip: string): string | null | undefined => {
    const admission = members.admit(ip)
    if (!admission.isAdmitted) return undefined
    members.add(member, ip)
    return admission.evicted
  }
  return { members, come, wait: (ms: number) => (now += ms) }
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

test('at the bound of an address or network its oldest goes after its grace, until then a newcomer is refused; no other is evicted [S47]', () => {
  const { members, come, wait } = setUp()
  assert.equal(come('beside', '198.51.100.1'), null)
  for (const name of ['a1', 'a2', 'a3']) assert.equal(come(name, '192.0.2.1'), null)
  assert.equal(come('a4', '192.0.2.1'), undefined)
  wait(LIMITS.graceMs)
  assert.equal(come('a4', '192.0.2.1'), 'a1')
  for (const name of ['b1', 'b2', 'b3']) assert.equal(come(name, '192.0.2.2'), null)
  assert.equal(come('c1', '192.0.2.3'), 'a2')
  assert.equal(come('c2', '192.0.2.3'), 'a3')
  assert.equal(come('c3', '192.0.2.3'), undefined)
  assert.ok(members.has('beside'))
})

test('ten times as many clients of one address as its bound, each of which shows something in time, all get through', () => {
  const { members, come, wait } = setUp()
  const waiting = Array.from({ length: 10 * LIMITS.perAddress }, (_, index) => `client-${index}`)
  let rounds = 0
  for (const settled = new Set<string>(); settled.size < waiting.length; rounds++) {
    assert.ok(rounds <= 10, 'each round has as many through as the bound allows')
    const inside = waiting.filter(name => !settled.has(name) && come(name, '192.0.2.1') === null)
    wait(LIMITS.graceMs - 1)
    for (const name of inside) {
      assert.ok(members.delete(name), `${name} was pushed out before its grace was over`)
      settled.add(name)
    }
  }
})

test('when there are too many in all, the oldest past its grace goes, else the oldest of the most crowded network [S47]', () => {
  const { come, wait } = setUp()
  come('alone', '203.0.113.9')
  for (let index = 0; index < 5; index++) come(`crowded-${index}`, `192.0.2.${index}`)
  for (let index = 0; index < 4; index++) come(`few-${index}`, `198.51.100.${index}`)
  assert.equal(come('new-1', '203.0.113.1'), 'crowded-0')
  wait(5_000)
  assert.equal(come('new-2', '203.0.113.2'), 'alone')
})

test('one that has shown something meanwhile is not evicted, and frees capacity by leaving', () => {
  const { members, come } = setUp()
  for (const name of ['a1', 'a2', 'a3']) come(name, '192.0.2.1')
  members.delete('a2')
  assert.equal(come('a4', '192.0.2.1'), null)
  assert.ok(!members.has('a2') && members.has('a1'))
  assert.equal(come('a5', '192.0.2.1'), undefined)
})

test('whatever comes and goes, no bound is exceeded, and nobody goes within the grace for one of its own address', () => {
  const step = fc.record({
    ip: fc.integer({ min: 0, max: 40 }),
    wait: fc.integer({ min: 0, max: 3_000 }),
    leaves: fc.integer({ min: 0, max: 3 })
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const { members, come, wait } = setUp()
      const inside = new Map<string, { readonly address: string; readonly at: number }>()
      let now = 0
      for (const [index, { ip, wait: ms, leaves }] of steps.entries()) {
        wait(ms)
        now += ms
        if (leaves === 0) {
          const [first] = inside.keys()
          if (first !== undefined) {
            members.delete(first)
            inside.delete(first)
          }
        }
        const address = `192.0.${ip % 5}.${ip}`
        const gone = come(String(index), address)
        if (gone === undefined) assert.ok([...inside.values()].some(other => networkGroup(other.address) === networkGroup(address)))
        else {
          if (gone !== null) {
            const { address: left, at } = inside.get(gone) ?? assert.fail()
            assert.ok(inside.delete(gone))
            assert.ok(left !== address || now - at >= LIMITS.graceMs || inside.size + 1 >= LIMITS.total)
          }
          inside.set(String(index), { address, at: now })
        }
        assert.equal(members.size, inside.size)
        assert.ok(inside.size <= LIMITS.total)
        const addresses = [...inside.values()].map(({ address: one }) => one)
        for (const one of addresses) {
          assert.ok(addresses.filter(other => other === one).length <= LIMITS.perAddress)
          assert.ok(addresses.filter(other => networkGroup(other) === networkGroup(one)).length <= LIMITS.perNetwork)
        }
      }
    })
  )
})
