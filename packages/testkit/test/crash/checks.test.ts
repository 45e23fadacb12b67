// The checks that the fault matrix rests on: whatever is lost, doubled, altered or missing is found. Each starts from a consistent
// snapshot.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agreement, differences, Replay, recordDifferences, sandboxSnapshotOf, snapshotOf, type Update } from '../../src/crash/index.ts'

const NAME = 'name-at-the-sandbox'
const nameOf = () => NAME

const FILLS = [
  { fill_id: 'e1', quantity: '2', price: '10.50' },
  { fill_id: 'e2', quantity: '3', price: '10.60' }
]
const ORDER = {
  order_id: 'o1',
  cl_order_id: 'c1',
  normalized_status: 'filled',
  submission: { state: 'acknowledged' },
  order_qty: '5',
  order_limit_price: null,
  filled_qty: '5',
  average_fill_price: '10.56',
  fills: FILLS,
  revision: 3
}
const POSITION = { account_number: 'A1', symbol: 'SPY', quantity: '5' }
const BALANCE = { account_number: 'A1', currency_code: 'USD', cash: '947.2' }
const OURS = { orders: [ORDER], positions: [POSITION], balances: [BALANCE] }

const THERE = {
  id: 'h1',
  client_order_id: NAME,
  state: 'done',
  quantity: '5',
  limit: null,
  filled: '5',
  average_fill_price: '10.560',
  fills: FILLS.map(({ fill_id: id, quantity, price }) => ({ id, quantity, price }))
}
const SANDBOX = {
  orders: [THERE],
  positions: [{ account: 'a1', symbol: 'SPY', quantity: '5' }],
  balances: [{ account: 'a1', currency: 'USD', cash: '947.20' }]
}

function found(
  ours: Partial<typeof OURS> | object,
  sandbox: Partial<typeof SANDBOX> | object,
  elsewhere: readonly string[] = []
): readonly string[] {
  const theirs = sandboxSnapshotOf({ ...SANDBOX, ...sandbox }, account => account.toUpperCase(), new Set(elsewhere))
  return differences('ours', snapshotOf({ ...OURS, ...ours }, nameOf), 'theirs', theirs)
}

test('zeros behind a price are no difference of an order, another price is', () => {
  const at = (price: string) => ({ ...THERE, fills: THERE.fills.map(fill => ({ ...fill, price })) })
  const ours = { ...ORDER, fills: FILLS.map(fill => ({ ...fill, price: '647.20' })) }
  const differencesAt = (price: string) => agreement(ours, { received: 1, accepted: 1, orders: [at(price)] }).differences
  assert.deepEqual(differencesAt('647.2'), [])
  assert.equal(differencesAt('647.21').length, 1)
})

test('an equivalent value in another form is no difference', () => {
  assert.deepEqual(found({}, {}), [])
  assert.deepEqual(found({ positions: [] }, { positions: [{ account: 'a1', symbol: 'SPY', quantity: '0' }] }), [])
  const external = { ...ORDER, cl_order_id: 'h1', submission: { state: 'external' } }
  assert.deepEqual(found({ orders: [external] }, {}, ['h1']), [])
})

for (const [what, ours, sandbox] of [
  ['a fill less', { orders: [{ ...ORDER, fills: FILLS.slice(1) }] }, {}],
  ['a fill more', { orders: [{ ...ORDER, fills: [...FILLS, FILLS[0]] }] }, {}],
  ['a fill at another price', { orders: [{ ...ORDER, fills: [FILLS[0], { ...FILLS[1], price: '10.61' }] }] }, {}],
  ['another execution', { orders: [{ ...ORDER, fills: [FILLS[0], { ...FILLS[1], fill_id: 'e3' }] }] }, {}],
  ['another status', { orders: [{ ...ORDER, normalized_status: 'partially_filled' }] }, {}],
  ['another filled quantity', { orders: [{ ...ORDER, filled_qty: '4' }] }, {}],
  ['another average', { orders: [{ ...ORDER, average_fill_price: '10.57' }] }, {}],
  ['an order the sandbox lacks', {}, { orders: [] }],
  ['an order only the sandbox has', { orders: [] }, {}],
  [
    'an order shown rejected that lives',
    { orders: [{ ...ORDER, normalized_status: 'rejected', submission: { state: 'not_received' }, fills: [], filled_qty: '0' }] },
    {}
  ],
  [
    'an order given up without proof that the sandbox lacks',
    { orders: [{ ...ORDER, normalized_status: 'rejected', submission: { state: 'unknown' }, fills: [] }] },
    { orders: [] }
  ],
  ['another position', { positions: [{ ...POSITION, quantity: '4' }] }, {}],
  ['a position that is not there', {}, { positions: [] }],
  ['another balance', { balances: [{ ...BALANCE, cash: '947.21' }] }, {}]
] as const) {
  test(`found: ${what}`, () => assert.equal(found(ours, sandbox).length, 1))
}

test('an order that provably never reached the sandbox is no difference', () => {
  const absent = { ...ORDER, normalized_status: 'rejected', submission: { state: 'not_received' }, fills: [], filled_qty: '0' }
  assert.deepEqual(found({ orders: [absent] }, { orders: [] }), [])
})

test('records that must be the very same are compared to the last field', () => {
  assert.deepEqual(recordDifferences('a', [ORDER], 'b', [{ ...ORDER }]), [])
  assert.equal(recordDifferences('a', [ORDER], 'b', [{ ...ORDER, revision: 2 }]).length, 1)
  assert.equal(recordDifferences('a', [ORDER], 'b', []).length, 1)
  assert.equal(recordDifferences('a', [], 'b', [ORDER]).length, 1)
})

const UPDATES: readonly Update[] = [
  { type: 'orders', seq: 1, event_id: 'v1', user_id: 'u', data: { ...ORDER, fills: [], filled_qty: '0', revision: 1 } },
  { type: 'orders', seq: 2, event_id: 'v2', user_id: 'u', data: { ...ORDER, fills: FILLS.slice(0, 1), filled_qty: '2', revision: 2 } },
  { type: 'orders', seq: 3, event_id: 'v3', user_id: 'u', data: ORDER },
  { type: 'positions', seq: 4, event_id: 'v4', user_id: 'u', data: [POSITION] },
  { type: 'balances', seq: 5, event_id: 'v5', user_id: 'u', data: BALANCE },
  { type: 'positions', seq: 6, event_id: 'v6', user_id: 'u', data: [{ ...POSITION, quantity: '0' }] }
]

function replayed(updates: readonly Update[]): Replay {
  const replay = new Replay('u')
  for (const update of updates) replay.apply(update)
  return replay
}

test('updates in order leave the newest records and no complaint', () => {
  const { faults, seq, orders, positions, balances } = replayed(UPDATES)
  assert.deepEqual([faults, seq, [...orders.values()], positions.size, [...balances.values()]], [[], 6, [ORDER], 0, [BALANCE]])
})

for (const [what, change] of Object.entries({
  lost: (updates: Update[]) => updates.splice(2, 1),
  doubled: (updates: Update[]) => updates.splice(2, 0, updates[2]),
  'overtaken by the next': (updates: Update[]) => updates.splice(1, 2, updates[2], updates[1]),
  'of another user': (updates: Update[]) => updates.splice(2, 1, { ...updates[2], user_id: 'w' }),
  'older than the one before': (updates: Update[]) => updates.splice(2, 1, { ...updates[2], data: { ...ORDER, revision: 2 } }),
  'taking back executions': (updates: Update[]) => updates.splice(2, 1, { ...updates[2], data: { ...ORDER, filled_qty: '1' } }),
  'bringing back an order that was rejected': (updates: Update[]) => {
    updates.splice(1, 1, { ...updates[1], data: { ...updates[1].data, normalized_status: 'rejected' } })
  },
  'of an unknown type': (updates: Update[]) => updates.splice(2, 1, { ...updates[2], type: 'trades' })
})) {
  test(`noticed: an update that is ${what}`, () => {
    const updates = [...UPDATES]
    change(updates)
    assert.notDeepEqual(replayed(updates).faults, [])
  })
}

test('a replay that received one different byte has another digest', () => {
  const { digest } = replayed(UPDATES)
  assert.equal(replayed(UPDATES.map(update => ({ ...update }))).digest, digest)
  const altered = UPDATES.map(update =>
    update.seq === 2 ? { ...update, data: { ...update.data, fills: [{ ...FILLS[0], fill_id: 'e9' }] } } : update
  )
  assert.deepEqual(replayed(altered).faults, [], 'by itself it is in order')
  assert.notEqual(replayed(altered).digest, digest)
})
