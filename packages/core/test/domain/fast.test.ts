/** The fast paths give the results of the slow ones: the core's parsers and arithmetic, `JSON.parse`, `Temporal`. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonical, DIGITS_MAX, dividedBy, isDecimal, isZero, minus, parseDecimal, plus, sum, times } from '@trunkline/core/domain/decimal'
import { FlatReader } from '@trunkline/core/domain/fast/flat-json'
import { numbersQuoted } from '@trunkline/core/domain/fast/number-text'
import { ExactSum, scaled } from '@trunkline/core/domain/fast/scaled'
import { isNanos, isNil, isPlainDecimal, isPlainText, wholeNumber } from '@trunkline/core/domain/fast/scan'
import { utcNanos, utcTime } from '@trunkline/core/domain/fast/scan-time'
import { difference, middle, percentage } from '@trunkline/core/domain/fast/small-sums'
import { parseTimestamp } from '@trunkline/core/domain/timestamp'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom('0', '1', '9', '.', '-', '+', 'e', ' ', '٣'), maxLength: 44 }),
  fc.stringMatching(/^-?(0|[1-9]\d{0,39})(\.\d{1,40})?$/),
  fc.constantFrom(
    '',
    '-',
    '.',
    '-.',
    '0',
    '-0',
    '-0.00',
    '00',
    '01',
    '1.',
    '.1',
    '1.2.3',
    `1${'0'.repeat(DIGITS_MAX)}`,
    `1${'0'.repeat(DIGITS_MAX - 1)}`
  )
)

test('isPlainDecimal equals isDecimal', () => {
  fc.assert(
    fc.property(texts, text => assert.equal(isPlainDecimal(text), isDecimal(text), text)),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  for (const value of [1, null, undefined, {}, ['1'], true]) assert.equal(isPlainDecimal(value), false)
})

test('isNanos accepts whole numbers of at most twenty digits', () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.stringMatching(/^\d{0,22}$/)), text => assert.equal(isNanos(text), /^\d{1,20}$/.test(text), text)),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  for (const value of [1, null, undefined, {}]) assert.equal(isNanos(value), false)
})

test('a plain text needs no escape in JSON', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), text => {
      if (isPlainText(text, 16)) assert.ok(JSON.stringify(text) === `"${text}"` && /^[ -~]{0,16}$/.test(text))
      else assert.ok(text.length > 16 || /[^ -~]|["\\]/.test(text), text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})

const numbers = fc
  .oneof(fc.stringMatching(/^-?(0|[1-9]\d{0,5})(\.\d{1,4})?$/), fc.stringMatching(/^-?(0|[1-9]\d{0,11})(\.\d{1,9})?$/))
  .filter(isDecimal)

test('sums of small and of long numbers equal exact sums', () => {
  const [two, hundred] = [parseDecimal('2', 'two'), parseDecimal('100', 'hundred')]
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      assert.equal(canonical(middle(a, b)), dividedBy(plus(a, b), two, 20))
      assert.equal(difference(a, b), minus(a, b))
      assert.equal(percentage(a, b), isZero(b) ? null : dividedBy(times(a, hundred), b, 4))
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})

test('a decimal is nil if it is zero', () => {
  fc.assert(
    fc.property(texts, text => {
      if (isDecimal(text)) assert.equal(isNil(text), isZero(text), text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  for (const zero of ['0', '0.0', '0.000']) assert.equal(isNil(parseDecimal(zero, 'zero')), true)
})

test('a whole number equals Number of its text', () => {
  const digits = fc.stringMatching(/^-?[0-9]{0,18}$/)
  fc.assert(
    fc.property(fc.oneof(digits, texts), text => {
      assert.equal(wholeNumber(text), /^-?\d{1,16}$/.test(text) ? Number(text) : null, text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})

test('scaled decimals and their sums are exact, or left to the slow path', () => {
  fc.assert(
    fc.property(fc.array(numbers, { maxLength: 20 }), values => {
      const total = new ExactSum()
      for (const value of values) {
        total.add(value)
        const units = scaled(value)
        if (!Number.isNaN(units)) assert.equal(String(units === 0 ? 0 : units), canonical(times(value, parseDecimal('100000000', 'scale'))))
      }
      assert.equal(total.total(), canonical(sum(values)))
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})

/** The core's parser; null if it refuses. */
function slowTime(text: string): string | null {
  try {
    return parseTimestamp(text, 't')
  } catch {
    return null
  }
}

test('utcTime equals parseTimestamp', () => {
  const fractions = fc.stringMatching(/^[0-9]{1,9}$/)
  fc.assert(
    fc.property(fc.integer({ min: -30_000_000_000_000, max: 200_000_000_000_000 }), fc.option(fractions, { nil: '' }), (ms, fraction) => {
      const text = `${new Date(ms).toISOString().slice(0, -5)}${fraction === '' ? '' : `.${fraction}`}Z`
      assert.equal(utcTime(text), slowTime(text))
    }),
    { numRuns: 2_000 }
  )
})

test('times that do not exist, and other forms, are null', () => {
  const part = (max: number) => fc.integer({ min: 0, max }).map(value => String(value).padStart(2, '0'))
  const near = fc
    .tuple(fc.integer({ min: 1000, max: 9999 }), part(14), part(33), part(25), part(62), part(62), fc.stringMatching(/^(\.[0-9]{0,10})?$/))
    .map(([year, month, day, hour, minute, second, fraction]) => `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}Z`)
  const broken = fc.tuple(near, fc.nat({ max: 30 }), fc.constantFrom(...'0123456789-:.TZtz+ ,/', '')).map(([text, at, other]) => {
    return text.slice(0, at) + other + text.slice(at + 1)
  })
  fc.assert(
    fc.property(fc.oneof(near, broken), text => {
      const read = utcTime(text)
      if (read !== null) assert.equal(read, slowTime(text), text)
    }),
    { numRuns: ofSearch(20_000, 3_000) }
  )
  for (const text of [
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-11-21T24:00:00Z',
    '2026-11-21T00:00:00.Z',
    ''
  ])
    assert.equal(utcTime(text), null, text)
  assert.equal(utcTime('2000-02-29T23:59:59.9Z'), '2000-02-29T23:59:59.900000Z')
  assert.equal(utcTime('2026-11-21T14:30:00.123456789Z'), '2026-11-21T14:30:00.123456Z')
})

test('utcNanos equals the calendar', () => {
  fc.assert(
    fc.property(fc.integer({ min: -60_000_000_000, max: 200_000_000_000 }), fc.stringMatching(/^[0-9]{0,9}$/), (seconds, fraction) => {
      const text = `${new Date(seconds * 1_000).toISOString().slice(0, -5)}${fraction === '' ? '' : `.${fraction}`}Z`
      const expected =
        seconds < 0 || !/^\d{4}-/.test(text) ? null : String(BigInt(seconds) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0')))
      assert.equal(utcNanos(text), expected, text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
  assert.equal(utcNanos('1970-01-01T00:00:00.000000001Z'), '1')
  for (const text of ['1969-12-31T23:59:59.9Z', '2026-02-30T00:00:00Z', '2026-11-21T14:30:00+00:00', 'x'])
    assert.equal(utcNanos(text), null)
})

test('the cached minute changes no result', () => {
  const piece = fc.constantFrom(...'0123456789.:-TZ ', '', '59', '60', '.5')
  fc.assert(
    fc.property(fc.constantFrom('2026-11-21T14:30:', '1970-01-01T00:00:'), fc.array(piece, { maxLength: 12 }), (minute, rest) => {
      assert.notEqual(utcNanos(`${minute}07.25Z`), null)
      for (const text of [`${minute}${rest.join('')}`, `${minute}${rest.join('')}Z`, `${minute}07${rest.join('')}Z`])
        assert.equal(utcNanos(text) === null, utcTime(text) === null, text)
    }),
    { numRuns: ofSearch(5_000, 1_000) }
  )
})

/** The parser's own text of every number. */
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
    return { value: JSON.parse(numbersQuoted(text)) }
  } catch (error) {
    assert.ok(error instanceof SyntaxError)
    return 'refused'
  }
}

const sameJson = (text: string) => assert.deepEqual(quickly(text), slowly(text), text.slice(0, 200))

/** Numbers from an untrusted sender: many digits, exponents of both cases and signs, zeros in every position. */
const digits = fc.stringMatching(/^[0-9]{1,30}$/)
const jsonNumber = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,25}$/)),
    fc.option(digits, { nil: null }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.integer({ min: 0, max: 40 })), { nil: null })
  )
  .map(([sign, whole, fraction, exponent]) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`)
const jsonString = fc.oneof(
  fc.string({ unit: 'binary' }).map(value => JSON.stringify(value)),
  fc.constantFrom('"\\""', '"\\\\"', '"\\\\\\""', '"1"', '"\\u0022:1,"', '"[1,2e3"', '"\\"1\\":2"', '""')
)
// V8 14.6 reads the name `"` as `\\` once it has seen an object with the latter at that position, with any way of parsing.
const memberName = jsonString.filter(written => !written.includes('\\\\'))
const space = fc.stringMatching(/^[ \t\n\r]{0,2}$/)
const { json: anyJson } = fc.letrec<{ json: string; list: string; object: string }>(tie => ({
  json: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    jsonNumber,
    jsonString,
    fc.constantFrom('true', 'false', 'null'),
    tie('list'),
    tie('object')
  ),
  list: fc.tuple(fc.array(tie('json'), { maxLength: 5 }), space).map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
  object: fc
    .tuple(fc.array(fc.tuple(memberName, tie('json')), { maxLength: 5 }), space)
    .map(([members, gap]) => `{${gap}${members.map(([named, value]) => `${named}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`)
}))

test('quoted numbers keep their text, and everything else is as parsed', () => {
  fc.assert(
    fc.property(anyJson, json => {
      fc.pre(!json.includes('__proto__'))
      assert.notEqual(slowly(json), 'refused')
      sameJson(json)
    }),
    { numRuns: ofSearch(3_000, 1_000) }
  )
})

test('invalid JSON stays invalid', () => {
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
    // Valid JSON with one piece inserted, removed or replaced.
    fc.tuple(anyJson, fc.nat(), fc.nat({ max: 2 }), fc.option(pieces, { nil: '' })).map(([json, at, taken, put]) => {
      const offset = at % (json.length + 1)
      return json.slice(0, offset) + put + json.slice(offset + taken)
    })
  )
  fc.assert(
    fc.property(broken, json => {
      fc.pre(!json.includes('__proto__') && !json.includes('\\\\'))
      sameJson(json)
    }),
    { numRuns: ofSearch(20_000, 3_000) }
  )
})

test('a number is never a name', () => {
  for (const json of ['{1:2}', '{"a":1:2}', '{1 :2}', '[1:2]', '1:', '{-0\n:1}', '{"a":{1e3:1}}']) sameJson(json)
  for (const json of ['01', '-', '1.', '.5', '1e', '1e+', '+1', '--1', '1-2', '[1 2]', '"a"1', '1"a"', '-"1"', '[1,]', '{"a":1,}'])
    sameJson(json)
  for (const json of ['"', '"\\', '"1', '{"a', '"a\\"', '"\\\\', '\u00a01', '\ufeff1', '1\u2028', '"\u2028"']) sameJson(json)
})

const WANTED = ['T', 'S', 'p', 'c', 'z', 'ok']

const fullParser = (text: string): unknown => JSON.parse(numbersQuoted(text))

/** The value without the unwanted members, or the marker of a refusal. */
function wanted(read: () => unknown): unknown {
  let value: unknown
  try {
    value = read()
  } catch (error) {
    assert.ok(error instanceof SyntaxError)
    return 'refused'
  }
  const cut = (item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).filter(([name]) => WANTED.includes(name)))
      : item
  return Array.isArray(value) ? value.map(cut) : cut(value)
}

const same = (reader: FlatReader, text: string) =>
  assert.deepEqual(
    wanted(() => reader.read(text)),
    wanted(() => fullParser(text)),
    text
  )

const flatNumber = fc.constantFrom('0', '-1', '126.55', '1.50', '2e-7', '-0.0', '1E+5', '9007199254740993')
const plain = fc.string({ maxLength: 5 }).map(value => JSON.stringify(value))
const flatString = fc.constantFrom('"t"', '"q"', '"AAPL"', '""', '"a,b"', '":1"', '"]}"', '"é"')
const value = fc.oneof(
  flatNumber,
  flatString,
  plain,
  fc.constantFrom('true', 'false', 'null', '[]', '["@","I"]', '[1]', '{"a":1}', '["\\"",""]')
)
const name = fc.constantFrom('T', 'S', 'p', 'c', 'z', 'ok', 'x', '1', 'a b', '')
const item = fc.array(fc.tuple(name, value), { maxLength: 7 }).map(members => `{${members.map(([key, it]) => `"${key}":${it}`).join(',')}}`)
const message = fc.oneof(
  item,
  fc.array(item, { maxLength: 4 }).map(items => `[${items.join(',')}]`)
)

test('a message is read the same, whatever was read before', () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), fc.array(fc.nat({ max: 7 }), { maxLength: 8 }), (messages, order) => {
      const reader = new FlatReader(WANTED, fullParser)
      for (const text of messages) same(reader, text)
      for (const index of order) same(reader, messages[index % messages.length] ?? '')
    }),
    { numRuns: ofSearch(3_000, 1_000) }
  )
})

test('a damaged message of a known shape is refused or read as by the full parser', () => {
  const form = '[{"T":"t","S":"AAPL","p":126.55,"c":["@","I"],"z":"C","ok":true},{"T":"q","S":"AAPL","x":null,"p":-1.5e3}]'
  const pieces = fc.constantFrom(...'{}[]:,"\\.-+eE019 \n\ttn', '', '"a"', '-', '1e5', '\\"', '\\u0041', 'true', ',"p":1', '"T":"t"')
  const reader = new FlatReader(WANTED, fullParser)
  same(reader, form)
  fc.assert(
    fc.property(fc.nat({ max: form.length }), fc.nat({ max: 3 }), pieces, (at, taken, put) => {
      const fresh = new FlatReader(WANTED, fullParser)
      same(fresh, form)
      const text = form.slice(0, at) + put + form.slice(at + taken)
      same(fresh, text)
      same(reader, text)
      same(reader, form)
    }),
    { numRuns: ofSearch(20_000, 3_000) }
  )
})

test('a list of texts has commas between them and nothing else', () => {
  const lists = `[] ["a"] ["a","b"] ["a",] [,"a"] [,] ["a""b"] ["a" ["a", ["a"} ["a";"b"] ["]"] ["a"]]`.split(' ').concat('[ ]')
  for (const list of lists) {
    const reader = new FlatReader(WANTED, fullParser)
    same(reader, '{"T":"t","c":["x","y"],"p":1}')
    same(reader, `{"T":"t","c":${list},"p":2}`)
    same(reader, `{"T":"t","x":1,"c":${list}}`)
    same(reader, `[{"T":"t","c":${list},"p":2}]`)
  }
})

test('shapes beyond the number that is cached are read', () => {
  const reader = new FlatReader(WANTED, fullParser)
  for (let round = 0; round < 2; round += 1) for (let kind = 0; kind < 40; kind += 1) same(reader, `{"T":"${kind}","S":"X","p":${kind}.10}`)
})

test('numbers keep every digit, and unwanted members may be left out', () => {
  const reader = new FlatReader(WANTED, fullParser)
  const text = (price: string) => `[{"T":"t","p":${price},"x":${price}}]`
  reader.read(text('1'))
  assert.deepEqual(reader.read(text('25310.500000000000000000000000')), [{ T: 't', p: '25310.500000000000000000000000' }])
})
