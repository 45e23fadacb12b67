import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import fc from 'fast-check'
import { readJson } from '../../src/kit/json.ts'
import * as parse from '../../src/kit/parse.ts'

const TABLE = { OPEN: 'working', DONE: 'filled' } as const

test('JSON is bounded in length and depth, and holds no prototype [S66, S67, S77]', () => {
  assert.deepEqual(readJson('{"a":[1,{"b":null}]}'), { a: [1, { b: null }] })
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  assert.doesNotThrow(() => readJson(deep(32)))
  for (const text of [
    deep(33),
    deep(100_000),
    '{"__proto__":{"a":1}}',
    '[{"\\u005f_proto__":1}]',
    '',
    'null,',
    '<html>',
    '{"a":1}{',
    '"\u0001"'
  ])
    assert.throws(() => readJson(text), Malformed, text.slice(0, 40))
  assert.throws(() => readJson('"aaaaaaaaaa"', { charsMax: 10 }), Malformed)
})

test('numbers can stay as they were written', () => {
  const text = '{"price":25310.500000000000000000000000,"id":9007199254740993,"tiny":1e-7,"list":[1.10,"1.10"]}'
  assert.deepEqual(readJson(text, { numbers: 'text' }), {
    price: '25310.500000000000000000000000',
    id: '9007199254740993',
    tiny: '1e-7',
    list: ['1.10', '1.10']
  })
})

test('a decimal is kept to the letter, and a JSON number is refused', () => {
  assert.equal(parse.decimal({ p: '1.50' }, 'p'), '1.50')
  assert.equal(parse.decimal({ p: '-0.000000001' }, 'p'), '-0.000000001')
  for (const p of [1.5, '1e', 'e3', '+1', '00.1', ' 1', '１', 'NaN', '', null, undefined, '1'.repeat(60)])
    assert.throws(() => parse.decimal({ p }, 'p'), Malformed, String(p))
  assert.equal(parse.decimalOrNull({ p: null }, 'p'), null)
  assert.equal(parse.decimalOrNull({}, 'p'), null)
  assert.throws(() => parse.decimalOrNull({ p: '' }, 'p'), Malformed)
})

test('enum values: strict where money depends on them, tolerant where they only describe', () => {
  assert.equal(parse.member({ s: 'OPEN' }, 's', TABLE), 'working')
  for (const s of ['open', 'constructor', 'toString', '__proto__', null, 1]) assert.throws(() => parse.member({ s }, 's', TABLE), Malformed)
  assert.equal(parse.memberOr<string>({ s: 'constructor' }, 's', TABLE, 'other'), 'other')
})

test('a field comes from the object itself', () => {
  assert.equal(parse.field({}, 'toString'), undefined)
  assert.throws(() => parse.text({}, 'constructor'), Malformed)
})

test('times keep their microseconds and must exist', () => {
  assert.equal(parse.timestamp({ t: '2026-01-05T15:00:00.120Z' }, 't'), '2026-01-05T15:00:00.120000Z')
  assert.equal(parse.timestamp({ t: '2026-01-05T15:00:00.120456Z' }, 't'), '2026-01-05T15:00:00.120456Z')
  assert.equal(parse.timestamp({ t: '2026-01-05T10:00:00-05:00' }, 't'), '2026-01-05T15:00:00.000000Z')
  for (const t of ['2026-02-30T00:00:00.000Z', '2026-13-01T00:00:00.000Z', '2026-01-05T25:00:00.000000Z', '2026-01-05', 1767625200, null])
    assert.throws(() => parse.timestamp({ t }, 't'), Malformed, String(t))
})

test('the quick way of reading a time gives what the thorough one gives', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000 }), fc.integer({ min: 0, max: 999 }), (ms, micros) => {
      const iso = new Date(ms).toISOString()
      assert.equal(parse.timestamp({ t: iso }, 't'), parse.timestamp({ t: iso.replace('Z', '+00:00') }, 't'))
      const six = iso.replace('Z', `${String(micros).padStart(3, '0')}Z`)
      assert.equal(parse.timestamp({ t: six }, 't'), six)
    })
  )
})

test('a list is whole or unreadable', () => {
  const item = (wire: parse.Wire) => parse.text(wire, 'id')
  assert.deepEqual(parse.list({ items: [{ id: 'a' }, { id: 'b' }] }, 'items', item), ['a', 'b'])
  for (const items of [undefined, null, {}, 'null', [{ id: 'a' }, null], [{ id: 'a' }, {}], [[]]])
    assert.throws(() => parse.list({ items }, 'items', item), Malformed)
})

test('no input makes a helper throw anything but Malformed [S77]', () => {
  const helpers: readonly ((wire: parse.Wire) => unknown)[] = [
    wire => parse.text(wire, 'k'),
    wire => parse.textOrNull(wire, 'k'),
    wire => parse.displayTextOrNull(wire, 'k'),
    wire => parse.decimal(wire, 'k'),
    wire => parse.decimalOrNull(wire, 'k'),
    wire => parse.integer(wire, 'k'),
    wire => parse.timestamp(wire, 'k'),
    wire => parse.day(wire, 'k'),
    wire => parse.dayOrNull(wire, 'k'),
    wire => parse.nested(wire, 'k'),
    wire => parse.nestedOrNull(wire, 'k'),
    wire => parse.list(wire, 'k', item => parse.text(item, 'k')),
    wire => parse.member(wire, 'k', TABLE),
    wire => parse.memberOr<string>(wire, 'k', TABLE, 'x')
  ]
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string(), fc.jsonValue(), fc.constant('2026-02-30T00:00:00.000Z')), value => {
      for (const helper of helpers) onlyMalformed(() => helper({ k: value }))
    }),
    { numRuns: 500 }
  )
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), text => onlyMalformed(() => readJson(text))))
})

function onlyMalformed(run: () => unknown): void {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof Malformed, String(error))
  }
}
