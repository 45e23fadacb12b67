import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { items, member, object, text, UnknownWord, type Wire } from '../../src/kit/parse.ts'
import { Words } from '../../src/kit/words.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'

const KINDS = { margin: 'MARGIN', cash: 'CASH' } as const
const STATES = { open: 'working', done: 'filled' } as const

function start() {
  const log = new MemoryLog()
  const meter = new MemoryMeter()
  return {
    log,
    words: new Words({ broker: 'ACME', log, meter }),
    counted: (field: string) => meter.counted('broker_unknown_words_total', { broker: 'ACME', field })
  }
}

test('a word that only describes may be unknown: counted every time, told once', () => {
  const { words, log, counted } = start()
  assert.equal(words.or({ kind: 'cash' }, 'kind', KINDS, null), 'CASH')
  for (const nothing of [{}, { kind: null }, { kind: '' }]) assert.equal(words.or(nothing, 'kind', KINDS, null), null)
  assert.equal(counted('kind'), 0)
  for (let time = 0; time < 3; time += 1) assert.equal(words.or({ kind: 'trust' }, 'kind', KINDS, null), null)
  assert.equal(words.or({ kind: 'toString' }, 'kind', KINDS, 'other'), 'other')
  assert.equal(words.or({ kind: 7 }, 'kind', KINDS, null), null)
  assert.equal(counted('kind'), 5)
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields.field, fields.word]),
    [
      ['warn', 'kind', 'trust'],
      ['warn', 'kind', 'toString'],
      ['warn', 'kind', 'number']
    ]
  )
})

test('a broker that makes up words is counted on and on, but no longer logged', () => {
  const { words, log, counted } = start()
  for (let index = 0; index < 1_000; index += 1) words.or({ kind: `${index}${'x'.repeat(500)}` }, 'kind', KINDS, null)
  assert.equal(counted('kind'), 1_000)
  assert.equal(log.lines.length, 200)
  assert.ok(log.lines.every(({ fields }) => String(fields.word).length <= 40))
})

test('a record with an unknown word of consequence is left out, one that cannot be read spoils all [S77]', () => {
  const { words, log, counted } = start()
  const read = (wire: Wire) => `${text(wire, 'id')} ${member(wire, 'state', STATES)}`
  const records = items(
    [
      { id: '1', state: 'open' },
      { id: '2', state: 'melted' },
      { id: '3', state: 'done' }
    ],
    'orders',
    wire => wire
  )
  assert.deepEqual(words.known(records, read), ['1 working', '3 filled'])
  assert.equal(counted('state'), 1)
  for (const [idKey, id] of [
    ['id', '2'],
    ['order', null]
  ] as const)
    assert.deepEqual(words.knownBeside(records, read, idKey), { known: ['1 working', '3 filled'], leftOut: [id] })
  assert.equal(log.lines[0]?.level, 'error')
  assert.throws(() => words.known([...records, { id: '4' }], read), Malformed)
  assert.throws(() => words.known([object({ state: 'open' }, 'order')], read), Malformed)
})

test('only unknown words are noted', () => {
  const { words, counted } = start()
  assert.equal(words.noted(new UnknownWord('state', STATES, 'melted')), true)
  assert.equal(words.noted(new Malformed('state', 'a text', 7)), false)
  assert.equal(words.noted(new Error('elsewhere')), false)
  assert.equal(counted('state'), 1)
})
