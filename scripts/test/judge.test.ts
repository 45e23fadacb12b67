import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from '../testing/judge.ts'

test('a test that failed twice, in itself and at a disposal, is reported with both failures', async () => {
  const failed = async () => {
    await using _used = { [Symbol.asyncDispose]: () => Promise.reject(new Error('it did not close')) }
    throw new Error('it did not work')
  }
  const cause: unknown = await failed().catch((thrown: unknown) => thrown)
  const data = { name: 'x', nesting: 0, entryFile: 'x.test.ts', details: { error: new Error('wrapped', { cause }) } }
  const { details = '' } = judge('test:fail', data, '') ?? {}
  assert.match(details, /it did not work.*it did not close/s)
})
