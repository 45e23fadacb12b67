import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addressGroup, canonicalAddress } from '../../src/auth/address.ts'
import { AddressList } from '../../src/auth/address-list.ts'

test('an IPv4 address stands for itself, however it is written [S29]', () => {
  for (const ip of [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '::FFFF:192.0.2.7',
    '::ffff:c000:207',
    '0:0:0:0:0:ffff:c000:0207',
    '64:ff9b::192.0.2.7'
  ])
    assert.equal(addressGroup(ip), '192.0.2.7', ip)
  assert.notEqual(addressGroup('::ffff:192.0.2.8'), addressGroup('::ffff:192.0.2.7'))
})

test('an IPv6 address stands for its /64, however it is written', () => {
  const same = [
    '2001:db8:0:1::1',
    '2001:DB8:0:1::2',
    '2001:0db8:0000:0001:ffff:ffff:ffff:ffff',
    '2001:db8:0:1::192.0.2.7',
    '2001:db8::1:0:0:0:9'
  ]
  assert.deepEqual([...new Set(same.map(addressGroup))], ['2001:db8:0:1'])
  assert.notEqual(addressGroup('2001:db8:0:2::1'), addressGroup('2001:db8:0:1::1'))
  assert.equal(addressGroup('fe80::1%eth0'), addressGroup('fe80::2%eth1'))
  assert.equal(addressGroup('::1'), '0:0:0:0')
})

test('addresses of one /64 have one group, in every spelling, and of two /64 two', () => {
  const part = fc.integer({ min: 0, max: 0xffff })
  const quad = fc.array(part, { minLength: 4, maxLength: 4 })
  const spelt = (parts: readonly number[], wide: boolean) => parts.map(one => one.toString(16).padStart(wide ? 4 : 0, '0')).join(':')
  fc.assert(
    fc.property(quad, quad, quad, fc.boolean(), (net, host, other, wide) => {
      fc.pre(net.some(one => one !== 0) && spelt(net, false) !== '64:ff9b:0:0')
      assert.equal(addressGroup(spelt([...net, ...host], wide).toUpperCase()), addressGroup(spelt([...net, ...other], false)))
      assert.equal(addressGroup(spelt([...net, ...host], wide)), spelt(net, false))
    })
  )
})

test('a port that a proxy wrote beside an address changes nothing, and all that is no address is one group [S29]', () => {
  for (const text of ['192.0.2.7:1', '192.0.2.7:65535']) assert.equal(addressGroup(text), '192.0.2.7', text)
  for (const text of ['[2001:db8:0:1::1]', '[2001:db8:0:1::2]:4711']) assert.equal(addressGroup(text), '2001:db8:0:1', text)
  assert.equal(addressGroup('[::ffff:192.0.2.7]:80'), '192.0.2.7')
  const none = ['', 'unknown', 'garbage-1', '192.0.2.7:x', '192.0.2.7:1:2', '[192.0.2.7]:1', '[', '999.1.1.1:5']
  assert.equal(new Set(none.map(addressGroup)).size, 1)
  const list = new AddressList(['192.0.2.0/24', '2001:db8::/32'])
  for (const text of ['192.0.2.7:4711', '[2001:db8::7]:4711', '2001:db8::7']) assert.ok(list.includes(text), text)
  for (const text of ['198.51.100.7:4711', '[2001:db9::7]:4711', 'garbage']) assert.ok(!list.includes(text), text)
})

test('an address has one spelling, whichever way it was written', () => {
  for (const text of ['192.0.2.7', '192.0.2.7:4711', '::ffff:192.0.2.7', '[::FFFF:c000:207]:80', '64:ff9b::192.0.2.7'])
    assert.equal(canonicalAddress(text), '192.0.2.7', text)
  for (const text of ['2001:db8::1:7', '[2001:DB8:0:0:0:0:1:7]:4711', '2001:0db8:0000:0000:0000:0000:0.1.0.7'])
    assert.equal(canonicalAddress(text), '2001:db8::1:7', text)
  assert.equal(canonicalAddress('FE80:0::1%eth0'), 'fe80::1%eth0')
  assert.equal(canonicalAddress('::'), '::')
  for (const text of ['', 'unknown', '192.0.2.7:x', 'a'.repeat(300)]) assert.equal(canonicalAddress(text), '', text)
})
