import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADAPTERS } from '@trunkline/brokers/registry'
import { contrast } from '../../src/ops/color.ts'
import { initialsOf, markOf } from '../../src/portal/logo.ts'

test('initials are the first letters of two words, as users see them', () => {
  for (const [name, initials] of [
    ['Northwind Brokerage', 'NB'],
    ['acme', 'A'],
    ['"><script>alert', 'SA'],
    ['👩‍🚀 Rockets', '👩‍🚀R'],
    ['בית השקעות', 'בה'],
    ['é́clair & Co.', 'É́C'],
    ['  ', ''],
    ['', '']
  ] as const)
    assert.equal(initialsOf(name), initials, name)
})

test('a logo keeps its shape, and its letters are readable on its colour', () => {
  assert.deepEqual(markOf('ACME', 'Ac', '#fde68a'), markOf('ACME', 'Ac', '#fde68a'))
  for (const [color, letterColor] of [
    ['#1d4ed8', '#ffffff'],
    ['#fde68a', '#000000']
  ] as const)
    assert.equal(markOf('ACME', 'Ac', color).letterColor, letterColor)
})

test('no two brokers have the same initials or similar colours side by side', () => {
  const all = ADAPTERS.map(({ capabilities }) => capabilities)
  assert.ok(all.length >= 4)
  for (const one of all)
    for (const other of all)
      if (one !== other) {
        assert.notEqual(one.logoInitials.toLowerCase(), other.logoInitials.toLowerCase(), `${one.id} and ${other.id}`)
        assert.ok(distance(one.logoColor, other.logoColor) > 60, `${one.id} and ${other.id} have colours alike`)
      }
  for (const { id, logoColor, logoInitials } of all)
    assert.ok(contrast(logoColor, markOf(id, logoInitials, logoColor).letterColor) >= 4.5, id)
})

/** Between two colours, channel by channel, of 441 at most. */
function distance(one: string, other: string): number {
  const channels = (color: string) => [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16))
  const others = channels(other)
  return Math.hypot(...channels(one).map((channel, at) => channel - (others[at] ?? 0)))
}
