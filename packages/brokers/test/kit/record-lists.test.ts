/** Lists of records of which some cannot be read. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { member, text, type Wire } from '../../src/kit/parse.ts'
import { RecordLists } from '../../src/kit/record-lists.ts'
import { UnknownValueCounter } from '../../src/kit/unknown-values.ts'
import { VirtualClock } from '../support/clocks.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'

const STATUSES = { open: 'working' } as const
const read = (wire: Wire) => `${text(wire, 'id')} ${text(wire, 'symbol')} ${member(wire, 'state', STATUSES)}`

function start() {
  const [log, meter, clock] = [new MemoryLog(), new MemoryMeter(), new VirtualClock()]
  const unknownValues = new UnknownValueCounter({ broker: 'ACME', log, meter })
  const lists = new RecordLists({ broker: 'ACME', log, meter, clock, unknownValues })
  const leftOut = (kind: string) => meter.counted('broker_records_left_out_total', { broker: 'ACME', kind })
  return { lists, log, clock, leftOut }
}

const good = (id: string) => ({ id, symbol: 'SPY', state: 'open' })
const secret = 'account-6YA00001'

test('a record that cannot be read is left out, named by its id, and counted; the others are read [S77]', () => {
  const { lists, leftOut } = start()
  const records = [
    good('1'),
    { id: '2', symbol: 7, state: 'open' },
    good('3'),
    { symbol: 'SPY' },
    { ...good('5'), state: 'melted' },
    good('6')
  ]
  assert.deepEqual(lists.read('orders', records, read, 'id'), {
    known: ['1 SPY working', '3 SPY working', '6 SPY working'],
    leftOut: ['2', null, '5']
  })
  assert.equal(leftOut('orders'), 3)
  assert.deepEqual(lists.read('positions', records.slice(0, 2), read, null).leftOut, [null])
  assert.equal(leftOut('positions'), 1)
  assert.deepEqual(lists.read('orders', [], read, 'id'), { known: [], leftOut: [] })
})

test('a list is a fault if more than half of it, and more than one record, cannot be read', () => {
  const { lists, leftOut } = start()
  const bad = (id: string) => ({ id })
  assert.deepEqual(lists.read('orders', [good('1'), bad('2')], read, 'id').leftOut, ['2'])
  assert.deepEqual(lists.read('orders', [good('1'), bad('2'), good('3'), bad('4')], read, 'id').leftOut, ['2', '4'])
  for (const records of [
    [good('1'), bad('2'), bad('3')],
    [bad('1'), bad('2')]
  ])
    assert.throws(() => lists.read('orders', records, read, 'id'), Malformed)
  // A record of a new kind was understood but for one value: any number of them is left out.
  const unknown = ['1', '2', '3'].map(id => ({ ...good(id), state: 'melted' }))
  assert.deepEqual(lists.read('orders', unknown, read, 'id'), { known: [], leftOut: ['1', '2', '3'] })
  assert.equal(leftOut('orders'), 6, 'nothing of a list that failed counts as left out')
})

test('the only record may be left out if its id shows that it is one', () => {
  const { lists } = start()
  assert.deepEqual(lists.read('orders', [{ id: '1' }], read, 'id'), { known: [], leftOut: ['1'] })
  assert.throws(() => lists.read('orders', [{ error: 'maintenance' }], read, 'id'), Malformed)
  assert.throws(() => lists.read('orders', [{ id: { nested: true } }], read, 'id'), Malformed)
})

test('for a command every record must be readable but for values that are unknown', () => {
  const { lists } = start()
  assert.throws(() => lists.strictly('positions', [good('1'), good('2'), { id: '3' }], read, 'id'), Malformed)
  assert.deepEqual(lists.strictly('positions', [good('1'), { ...good('2'), state: 'melted' }], read, 'id').leftOut, ['2'])
})

test('an error that is not about the record is passed on', () => {
  const { lists } = start()
  const broken = () => {
    throw new TypeError('a defect of ours')
  }
  assert.throws(() => lists.read('orders', [good('1'), good('2')], broken, 'id'), TypeError)
})

test('one line is logged for each field of a kind in ten minutes, with how many records it stands for and nothing of their content', async () => {
  const { lists, log, clock } = start()
  const spoilt = [good('1'), good('2'), { id: secret, symbol: '', account: secret }]
  for (let times = 0; times < 5; times += 1) lists.read('orders', spoilt, read, 'id')
  lists.read('positions', spoilt, read, 'id')
  lists.read('orders', [good('1'), { id: '2', symbol: 'SPY', state: 7 }], read, 'id')
  const fields = () => log.lines.map(line => line.fields)
  assert.deepEqual(fields(), [
    { broker: 'ACME', kind: 'orders', field: 'symbol', records: 1 },
    { broker: 'ACME', kind: 'positions', field: 'symbol', records: 1 },
    { broker: 'ACME', kind: 'orders', field: 'state', records: 1 }
  ])
  await clock.advance(600_000)
  lists.read('orders', spoilt, read, 'id')
  assert.deepEqual(fields().at(-1), { broker: 'ACME', kind: 'orders', field: 'symbol', records: 5 })
  // A field whose name is the record's own content is not named.
  const named = (wire: Wire) => {
    throw new Malformed(`position of ${String(wire.id)}`, 'readable', wire)
  }
  lists.read('orders', [{ id: secret }], named, 'id')
  assert.deepEqual(fields().at(-1), { broker: 'ACME', kind: 'orders', field: 'record', records: 1 })
  assert.ok(!JSON.stringify(log.lines).includes(secret))
})

test('a broker that invents fields without end is counted on, but no longer logged', () => {
  const { lists, log, leftOut } = start()
  for (let index = 0; index < 500; index += 1)
    lists.read(
      'orders',
      [{ id: '1' }],
      () => {
        throw new Malformed(`field${index}`, 'readable', null)
      },
      'id'
    )
  assert.deepEqual([log.lines.length, leftOut('orders')], [100, 500])
})
