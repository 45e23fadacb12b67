import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseQuery, REPEATED, UNDECODABLE } from '../../src/http/query-text.ts'

const parse = (text: string) => Object.fromEntries(Object.entries(parseQuery(text)))

test('an encoded text is decoded to the original', () => {
  const text = fc.string({ unit: 'binary' }).filter(part => part.isWellFormed())
  const name = text.filter(part => part !== '' && part !== '__proto__')
  fc.assert(
    fc.property(fc.dictionary(name, text, { noNullPrototype: true }), values => {
      assert.deepEqual(parse(new URLSearchParams(values).toString()), values)
    })
  )
})

test('repeated, undecodable and unusual parameters are marked, never guessed', () => {
  assert.deepEqual(parse('a=1&a=2'), { a: REPEATED })
  assert.deepEqual(parse('a=1&%61=1&a=1'), { a: REPEATED })
  assert.deepEqual(parse('a=%ED%A0%80&b=%&c=%zz'), { a: UNDECODABLE, b: UNDECODABLE, c: UNDECODABLE })
  assert.deepEqual(parse('%zz=1'), { '%zz': '1' })
  assert.deepEqual(parse('&&a&b=&c=1=2&'), { a: '', b: '', c: '1=2' })
  assert.deepEqual(parse('a=1+2%2B3'), { a: '1 2+3' })
  const tricky = parseQuery('__proto__=x&constructor=y')
  assert.equal(Object.getPrototypeOf(tricky), null)
  assert.deepEqual(Object.keys(tricky), ['__proto__', 'constructor'])
})
