import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { ofSearch } from '@trunkline/testkit/search'
import fc from 'fast-check'
import { FlatReader } from '../../src/kit/flat-json.ts'
import { readJson } from '../../src/kit/json.ts'

const WANTED = ['T', 'S', 'p', 'c', 'z', 'ok']

/** The expected value, or the marker of a refusal. */
function wanted(read: () => unknown): unknown {
  let value: unknown
  try {
    value = read()
  } catch (error) {
    assert.ok(error instanceof Malformed)
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
    wanted(() => readJson(text, { numbers: 'text' })),
    text
  )

const number = fc.constantFrom('0', '-1', '126.55', '1.50', '2e-7', '-0.0', '1E+5', '9007199254740993')
const plain = fc.string({ maxLength: 5 }).map(value => JSON.stringify(value))
const string = fc.constantFrom('"t"', '"q"', '"AAPL"', '""', '"a,b"', '":1"', '"]}"', '"é"')
const value = fc.oneof(number, string, plain, fc.constantFrom('true', 'false', 'null', '[]', '["@","I"]', '[1]', '{"a":1}', '["\\"",""]'))
const name = fc.constantFrom('T', 'S', 'p', 'c', 'z', 'ok', 'x', '1', 'a b', '')
const item = fc.array(fc.tuple(name, value), { maxLength: 7 }).map(members => `{${members.map(([key, it]) => `"${key}":${it}`).join(',')}}`)
const message = fc.oneof(
  item,
  fc.array(item, { maxLength: 4 }).map(items => `[${items.join(',')}]`)
)

test('whatever was read before, a message is read as it always is', () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 8 }), fc.array(fc.nat({ max: 7 }), { maxLength: 8 }), (messages, order) => {
      const reader = new FlatReader(WANTED)
      for (const text of messages) same(reader, text)
      for (const index of order) same(reader, messages[index % messages.length] ?? '')
    }),
    { numRuns: ofSearch(3_000, 1_000) }
  )
})

test('of the same form, with anything else broken, it is refused or read as ever', () => {
  const form = '[{"T":"t","S":"AAPL","p":126.55,"c":["@","I"],"z":"C","ok":true},{"T":"q","S":"AAPL","x":null,"p":-1.5e3}]'
  const pieces = fc.constantFrom(...'{}[]:,"\\.-+eE019 \n\ttn', '', '"a"', '-', '1e5', '\\"', '\\u0041', 'true', ',"p":1', '"T":"t"')
  const reader = new FlatReader(WANTED)
  same(reader, form)
  fc.assert(
    fc.property(fc.nat({ max: form.length }), fc.nat({ max: 3 }), pieces, (at, taken, put) => {
      const fresh = new FlatReader(WANTED)
      same(fresh, form)
      const text = form.slice(0, at) + put + form.slice(at + taken)
      same(fresh, text)
      same(reader, text)
      same(reader, form)
    }),
    { numRuns: ofSearch(20_000, 3_000) }
  )
})

test('a list of texts is whole, with commas between and nothing else', () => {
  const lists = [
    '[]',
    '["a"]',
    '["a","b"]',
    '["a",]',
    '[,"a"]',
    '[,]',
    '["a""b"]',
    '["a"',
    '["a",',
    '["a"}',
    '["a";"b"]',
    '["]"]',
    '[ ]',
    '["a"]]'
  ]
  for (const list of lists) {
    const reader = new FlatReader(WANTED)
    same(reader, '{"T":"t","c":["x","y"],"p":1}')
    same(reader, `{"T":"t","c":${list},"p":2}`)
    same(reader, `{"T":"t","x":1,"c":${list}}`)
    same(reader, `[{"T":"t","c":${list},"p":2}]`)
  }
})

test('shapes beyond the number that is stored are read nevertheless', () => {
  const reader = new FlatReader(WANTED)
  for (let round = 0; round < 2; round += 1) for (let kind = 0; kind < 40; kind += 1) same(reader, `{"T":"${kind}","S":"X","p":${kind}.10}`)
})

test('numbers keep every digit, and what is not wanted may be left out', () => {
  const reader = new FlatReader(WANTED)
  const text = (price: string) => `[{"T":"t","p":${price},"x":${price}}]`
  reader.read(text('1'))
  assert.deepEqual(reader.read(text('25310.500000000000000000000000')), [{ T: 't', p: '25310.500000000000000000000000' }])
})
