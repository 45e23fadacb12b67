import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import { ofSearch } from '@trunkline/testkit/search'
import Big from 'big.js'
import fc from 'fast-check'
import { readJson } from '../../src/kit/json.ts'
import * as parse from '../../src/kit/parse.ts'
import { plainNumber } from '../../src/kit/plain-number.ts'

/** The parser's own text of every number: slow, and certain. */
function reviver(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? context?.source : value
}

/** The answer, or the marker of a refusal. */
function slowly(text: string): unknown {
  try {
    return { value: JSON.parse(text, reviver) }
  } catch {
    return 'refused'
  }
}

function quickly(text: string): unknown {
  try {
    return { value: readJson(text, { numbers: 'text' }) }
  } catch (error) {
    assert.ok(error instanceof Malformed)
    return 'refused'
  }
}

const same = (text: string) => assert.deepEqual(quickly(text), slowly(text), text.slice(0, 200))

/** Numbers as an untrusted sender may write them: many digits, exponents of both cases and signs, zeros wherever they may be. */
const digits = fc.stringMatching(/^[0-9]{1,30}$/)
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,25}$/)),
    fc.option(digits, { nil: null }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 40 })), { nil: null })
  )
  .map(([sign, whole, fraction, exponent]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`)
const string = fc.oneof(
  fc.string({ unit: 'binary' }).map(value => JSON.stringify(value)),
  fc.constantFrom('"\\""', '"\\\\"', '"\\\\\\""', '"1"', '"\\u0022:1,"', '"[1,2e3"', '"\\"1\\":2"', '""')
)
// V8 14.6 takes the name `"` for the name `\\` once it has seen an object with the latter in its place, with any way of parsing.
const name = string.filter(written => !written.includes('\\\\'))
const space = fc.stringMatching(/^[ \t\n\r]{0,2}$/)
const { json: text } = fc.letrec<{ json: string; list: string; object: string }>(tie => ({
  json: fc.oneof({ maxDepth: 6, depthSize: 'small' }, number, string, fc.constantFrom('true', 'false', 'null'), tie('list'), tie('object')),
  list: fc.tuple(fc.array(tie('json'), { maxLength: 5 }), space).map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
  object: fc
    .tuple(fc.array(fc.tuple(name, tie('json')), { maxLength: 5 }), space)
    .map(([members, gap]) => `{${gap}${members.map(([named, value]) => `${named}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`)
}))

test('any JSON is read as the parser itself reads it, numbers as they were written', () => {
  fc.assert(
    fc.property(text, json => {
      fc.pre(!json.includes('__proto__'))
      assert.notEqual(slowly(json), 'refused')
      same(json)
    }),
    { numRuns: ofSearch(3_000, 1_000) }
  )
})

test('what is not JSON is refused exactly where the parser refuses it', () => {
  const pieces = fc.constantFrom(
    ...'{}[]:,"\\.-+eE0123456789 \n\ttruefalsn/x_\u0000',
    '1.5',
    '"a"',
    '-',
    '1e5',
    '0x1',
    'NaN',
    '{"a":',
    '\\"'
  )
  const broken = fc.oneof(
    fc.array(pieces, { maxLength: 24 }).map(found => found.join('')),
    // Whole JSON with one piece put in, taken out or put in another's place.
    fc.tuple(text, fc.nat(), fc.nat({ max: 2 }), fc.option(pieces, { nil: '' })).map(([json, at, taken, put]) => {
      const offset = at % (json.length + 1)
      return json.slice(0, offset) + put + json.slice(offset + taken)
    })
  )
  fc.assert(
    fc.property(broken, json => {
      fc.pre(!json.includes('__proto__') && !json.includes('\\\\'))
      same(json)
    }),
    { numRuns: ofSearch(20_000, 3_000) }
  )
})

test('a number is no name, wherever it stands', () => {
  for (const json of ['{1:2}', '{"a":1:2}', '{1 :2}', '[1:2]', '1:', '{-0\n:1}', '{"a":{1e3:1}}']) same(json)
  for (const json of ['01', '-', '1.', '.5', '1e', '1e+', '+1', '--1', '1-2', '[1 2]', '"a"1', '1"a"', '-"1"', '[1,]', '{"a":1,}'])
    same(json)
  for (const json of ['"', '"\\', '"1', '{"a', '"a\\"', '"\\\\', '\u00a01', '\ufeff1', '1\u2028', '"\u2028"']) same(json)
})

test('the value of a number is the one that was written, in plain notation', () => {
  fc.assert(
    fc.property(number, written => {
      const plain = plainNumber(written)
      const exact = new Big(written)
      if (plain === null) {
        assert.ok(exact.toFixed().replace(/[-.]/g, '').length > 38, written)
        return
      }
      assert.match(plain, /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/)
      assert.ok(new Big(plain).eq(exact), `${written} became ${plain}`)
      assert.equal(compare(plain, plain), 0)
    }),
    { numRuns: ofSearch(3_000, 1_000) }
  )
  const cases: readonly (readonly [string, string])[] = [
    ['1e-7', '0.0000001'],
    ['-2.50E+3', '-2500'],
    ['1.25e1', '12.5'],
    ['12.5e-3', '0.0125'],
    ['-0', '0'],
    ['-0.0', '0.0'],
    ['0e9', '0'],
    ['25310.500000000000000000000000000000000000000000', '25310.5'],
    ['1.50', '1.50']
  ]
  for (const [written, plain] of cases) assert.equal(parse.decimal({ p: written }, 'p'), plain)
  for (const p of ['1e40', '1e-40', '1e99999', '1e9999999999', '0x10', '1'.repeat(39), '1'.repeat(500), '1,5', 'Infinity'])
    assert.throws(() => parse.decimal({ p }, 'p'), Malformed, p)
})
