// Whatever colour a platform has, its button stands out from the page and can be read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import fc from 'fast-check'
import { contrast, letterOn, parseColor, standingOut } from '../../src/ops/color.ts'
import { colorStylesheet } from '../../src/portal/app-view.ts'

const color = fc.integer({ min: 0, max: 0xffffff }).map(value => `#${value.toString(16).padStart(6, '0')}`)

test('contrast is what WCAG computes', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21)
  assert.equal(contrast('#777777', '#777777'), 1)
  assert.equal(contrast('#767676', '#ffffff').toFixed(2), '4.54')
})

test('letters are readable on every colour, and every colour is adjusted until it has contrast', () => {
  fc.assert(
    fc.property(color, fc.constantFrom('#ffffff', '#1a212a'), (any, ground) => {
      const moved = standingOut(any, ground, 3)
      assert.ok(contrast(moved, ground) >= 3)
      if (contrast(any, ground) >= 3) assert.equal(moved, any, 'a colour that stands out stays')
      for (const shown of [any, moved]) assert.ok(contrast(letterOn(shown), shown) >= 4.5)
    })
  )
})

test('a colour’s stylesheet has both colour schemes, and other names have none', () => {
  assert.equal(
    colorStylesheet('0b5cad'),
    ':root {\n  --accent: light-dark(#0b5cad, #2870b7);\n  --on-accent: light-dark(#ffffff, #ffffff);\n}\n'
  )
  assert.match(colorStylesheet('ffffff') ?? '', /^:root \{\n {2}--accent: light-dark\(#(?:[0-9a-f]{6}), #ffffff\);/)
  for (const name of ['', '0b5ca', '#0b5cad', '0B5CAD', '0b5cad;}', 'red']) assert.equal(colorStylesheet(name), null, name)
})

test('a colour is parsed in both notations, and anything else is refused', () => {
  assert.deepEqual([parseColor('#0B5CAD'), parseColor(' #f0c ')], ['#0b5cad', '#ff00cc'])
  for (const bad of ['', 'red', '#12345', '#1234567', '0b5cad', '#00000g', 'rgb(0,0,0)', 5, null])
    assert.throws(() => parseColor(bad), Malformed)
})
