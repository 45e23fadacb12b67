// Tokens that end without a message of it, and a store that does not answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import * as make from '@trunkline/testkit/store-contract/records'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { TokenChecks } from '../../../src/stream/market/token-checks.ts'

test('a session whose token the store does not have any more is reported within two seconds; without an answer none is', async () => {
  const clock = new VirtualClock()
  const who = { user: make.user(make.platform()), connection: make.connection(make.user(make.platform())) }
  const [kept, ended] = [make.token(who), make.token(who)]
  const stored = new Map([kept, ended].map(token => [token.tokenHash, token]))
  let isAnswering = true
  const findAll = async (hashes: readonly string[]) => {
    if (!isAnswering) throw new StoreUnavailable('no answer')
    return new Map(hashes.flatMap(hash => (stored.has(hash) ? [[hash, stored.get(hash) ?? kept] as const] : [])))
  }
  const sessions = new Map([
    [kept.tokenHash, ['kept']],
    [ended.tokenHash, ['first', 'second']]
  ])
  const over: string[] = []
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const checks = new TokenChecks(
    { tokens: { findAll }, clock, log },
    () => sessions,
    (session, token) => {
      if (token !== null) return
      over.push(session)
      sessions.delete(ended.tokenHash)
    }
  )
  await clock.advance(2_000)
  assert.deepEqual(over, [])
  stored.delete(ended.tokenHash)
  isAnswering = false
  await clock.advance(2_000)
  assert.deepEqual(over, [])
  isAnswering = true
  await clock.advance(2_000)
  assert.deepEqual(over, ['first', 'second'])
  checks.stop()
})
