import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as make from '@trunkline/testkit/store-contract/records'
import Value from 'typebox/value'
import { connectionRecord, presentConnection } from '../../src/wire/connection.ts'

test('a connection shows beside its health how many records were left out of its lists, and when that was last so', () => {
  const connection = make.connection(make.user(make.platform()))
  const health = { state: 'live', since: make.at(0), reason: null } as const
  const shown = presentConnection({ connection, accounts: [], health, leftOut: { records: 2, at: make.at(1) } })
  assert.deepEqual([shown.health, shown.records_left_out, shown.records_left_out_at], ['live', 2, make.at(1)])
  const whole = presentConnection({ connection, accounts: [], health, leftOut: null })
  assert.deepEqual([whole.records_left_out, whole.records_left_out_at], [0, null])
  for (const record of [shown, whole]) assert.ok(Value.Check(connectionRecord, record))
})
