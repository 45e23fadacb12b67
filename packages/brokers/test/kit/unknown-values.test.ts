import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { items, member, object, text, UnknownValueError, type Wire } from '../../src/kit/parse.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { readKnown } from '../support/readable.ts'

const ACCOUNT_TYPES = { margin: 'MARGIN', cash: 'CASH' } as const
const STATUSES = { open: 'working', done: 'filled' } as const

function start() {
  const log = new MemoryLog()
  const meter = new MemoryMeter()
  return {
    log,
    unknownValues: new UnknownValueCounter({ broker: 'ACME', log, meter }),
    counted: (field: string) => meter.counted('broker_unknown_values_total', { broker: 'ACME', field })
  }
}

test('a value that only describes may be unknown: counted every time, logged once', () => {
  const { unknownValues, log, counted } = start()
  assert.equal(unknownValues.or({ kind: 'cash' }, 'kind', ACCOUNT_TYPES, null), 'CASH')
  for (const nothing of [{}, { kind: null }, { kind: '' }]) assert.equal(unknownValues.or(nothing, 'kind', ACCOUNT_TYPES, null), null)
  assert.equal(counted('kind'), 0)
  for (let time = 0; time < 3; time += 1) assert.equal(unknownValues.or({ kind: 'trust' }, 'kind', ACCOUNT_TYPES, null), null)
  assert.equal(unknownValues.or({ kind: 'toString' }, 'kind', ACCOUNT_TYPES, 'other'), 'other')
  assert.equal(unknownValues.or({ kind: 7 }, 'kind', ACCOUNT_TYPES, null), null)
  assert.equal(counted('kind'), 5)
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields.field, fields.value]),
    [
      ['warn', 'kind', 'trust'],
      ['warn', 'kind', 'toString'],
      ['warn', 'kind', 'number']
    ]
  )
})

test('a broker that invents values is counted on and on, but no longer logged', () => {
  const { unknownValues, log, counted } = start()
  for (let index = 0; index < 1_000; index += 1) unknownValues.or({ kind: `${index}${'x'.repeat(500)}` }, 'kind', ACCOUNT_TYPES, null)
  assert.equal(counted('kind'), 1_000)
  assert.equal(log.lines.length, 200)
  assert.ok(log.lines.every(({ fields }) => String(fields.value).length <= 40))
})

test('a record with an unknown value of consequence is left out, one that cannot be read spoils all [S77]', () => {
  const { unknownValues, log, counted } = start()
  const read = (wire: Wire) => `${text(wire, 'id')} ${member(wire, 'state', STATUSES)}`
  const records = items(
    [
      { id: '1', state: 'open' },
      { id: '2', state: 'melted' },
      { id: '3', state: 'done' }
    ],
    'orders',
    wire => wire
  )
  for (const [idKey, id] of [
    ['id', '2'],
    ['order', null]
  ] as const)
    assert.deepEqual(readKnown(unknownValues, records, read, idKey), { known: ['1 working', '3 filled'], leftOut: [id] })
  assert.deepEqual([counted('state'), log.lines[0]?.level], [2, 'error'])
  assert.throws(() => readKnown(unknownValues, [...records, { id: '4' }], read, 'id'), Malformed)
  assert.throws(() => readKnown(unknownValues, [object({ state: 'open' }, 'order')], read, 'id'), Malformed)
})

test('only unknown values are counted', () => {
  const { unknownValues, counted } = start()
  assert.equal(unknownValues.countIfUnknown(new UnknownValueError('state', STATUSES, 'melted')), true)
  assert.equal(unknownValues.countIfUnknown(new Malformed('state', 'a text', 7)), false)
  assert.equal(unknownValues.countIfUnknown(new Error('elsewhere')), false)
  assert.equal(counted('state'), 1)
})
