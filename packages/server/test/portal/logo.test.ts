import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logoLetter } from '../../src/portal/logo.ts'

test('a logo is the first letter as a reader sees it, dark on a pale colour and light on a deep one', () => {
  assert.deepEqual(logoLetter('Northwind', '#1d4ed8'), { letter: 'N', letterColor: '#ffffff' })
  assert.deepEqual(logoLetter('Pale', '#fde68a'), { letter: 'P', letterColor: '#17202b' })
  assert.equal(logoLetter('👩‍🚀 Rockets', '#000000').letter, '👩‍🚀')
  assert.equal(logoLetter('בית', '#000000').letter, 'ב')
  assert.equal(logoLetter('', '#ffffff').letter, '')
})
