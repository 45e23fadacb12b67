import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '@trunkline/core/domain/errors'
import { cpuTimeOf } from '@trunkline/testkit/cpu-time'
import fc from 'fast-check'
import { DEPTH_MAX, readJson, VALUES_MAX } from '../../src/http/body.ts'

const read = (text: string) => readJson(Buffer.from(text))

function refused(text: string | Buffer, code: string, path?: string): void {
  assert.throws(
    () => readJson(Buffer.from(text)),
    (error: unknown) => error instanceof ServiceError && error.code === code && error.details[0]?.path === path,
    String(text).slice(0, 80)
  )
}

test('an empty body counts as no body', () => {
  assert.equal(readJson(Buffer.alloc(0)), undefined)
})

test('ordinary JSON is read as JSON.parse reads it', () => {
  const key = fc.string({ unit: 'binary' }).filter(text => text !== '__proto__' && text.isWellFormed() && !text.includes('\0'))
  const leaf = fc.oneof(
    key,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => (Object.is(value, -0) ? 0 : value)),
    fc.boolean(),
    fc.constant(null)
  )
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 6 },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true })
    )
  }))
  fc.assert(
    fc.property(value, fc.nat(4), (given, indent) => {
      assert.deepEqual(read(JSON.stringify(given, null, indent)), given)
    })
  )
})

test('anything but JSON in UTF-8 is refused', () => {
  for (const text of [
    '{',
    '{"a":}',
    "{'a':1}",
    '{"a":1,}',
    'nope',
    '\ufeff{}',
    '{"a":1}{"b":2}',
    '{"a":NaN}',
    '{"a":01}',
    '{"a":"\u0000"}'
  ]) {
    refused(text, 'body_malformed')
  }
  refused(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'body_malformed')
  refused(Buffer.from('{"a":"é"}', 'latin1'), 'body_malformed')
})

test('a duplicate key is refused and named, even if it is written with escapes', () => {
  refused('{"side":"BUY","side":"SELL"}', 'field_invalid', 'side')
  refused('{"side":"BUY","s\\u0069de":"SELL"}', 'field_invalid', 'side')
  refused('{"legs":[{"a":1},{"a":1,"b":[{}],"a":2}]}', 'field_invalid', 'a')
  assert.deepEqual(read('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":"\\"a\\":"}'), { a: { a: 1 }, b: [{ a: 1 }, { a: 2 }], c: '"a":' })
})

test('texts that cannot be stored or compared safely are refused', () => {
  refused('{"user_id":"a\\u0000b"}', 'field_invalid', 'user_id')
  refused('{"user_id":"\\ud800"}', 'field_invalid', 'user_id')
  refused('{"legs":[{"symbol":"\\udc00x"}]}', 'field_invalid', 'legs.0.symbol')
  refused('{"\\u0000":1}', 'field_invalid', '')
  assert.deepEqual(read('{"a":"\\ud83d\\ude00"}'), { a: '😀' })
})

test('__proto__ is refused and changes nothing [S66]', () => {
  refused('{"__proto__":{"x":1}}', 'field_invalid', '__proto__')
  refused('{"a":{"\\u005f_proto__":{"x":1}}}', 'field_invalid', '__proto__')
  assert.equal(Object.getOwnPropertyDescriptor(Object.prototype, 'x'), undefined)
})

test('nesting depth is limited, and checking it is cheap [S67]', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.ok(Array.isArray(read(nested(DEPTH_MAX))))
  const taken = cpuTimeOf(() => {
    for (const depth of [DEPTH_MAX + 1, 10_000, 128_000]) {
      refused(nested(depth), 'body_malformed')
      refused(`${'{"a":'.repeat(depth > 40_000 ? 40_000 : depth)}1${'}'.repeat(depth > 40_000 ? 40_000 : depth)}`, 'body_malformed')
    }
  })
  assert.ok(taken < 1_000, `${taken} ms`)
})

test('a body with more values than any request takes is refused before it is validated [S73]', () => {
  const list = (count: number) => `[${Array.from({ length: count }, () => '1').join()}]`
  assert.ok(Array.isArray(read(list(VALUES_MAX - 1))))
  for (const text of [
    list(VALUES_MAX),
    JSON.stringify(Object.fromEntries(Array.from({ length: VALUES_MAX }, (_, index) => [`k${index}`, 1]))),
    `[${Array.from({ length: VALUES_MAX }, () => '[]').join()}]`
  ])
    refused(text, 'body_malformed')
  assert.equal(read(JSON.stringify(','.repeat(VALUES_MAX))), ','.repeat(VALUES_MAX))
})
