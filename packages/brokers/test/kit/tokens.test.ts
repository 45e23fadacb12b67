import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials, type CredentialsHolder } from '@trunkline/core/ports/broker'
import { oauthToken } from '../../src/kit/oauth.ts'
import { TokenSource } from '../../src/kit/tokens.ts'
import { settled, VirtualClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'

const never = new AbortController().signal
const LIFE_MS = 100_000

function start(
  options: { readonly refresh?: (credentials: Credentials) => Promise<Credentials>; readonly holder?: CredentialsHolder } = {}
) {
  const clock = new VirtualClock()
  const made = (token: string): Credentials => ({
    access_token: token,
    refresh_token: `r-${token}`,
    issued_at: clock.now(),
    expires_at: timestampOfMs(epochMs(clock.now()) + LIFE_MS)
  })
  const refreshes: string[] = []
  const holder = options.holder ?? new MemoryHolder(made('t0'))
  const log = new MemoryLog()
  const tokens = new TokenSource({
    holder,
    clock,
    log,
    tokenOf: oauthToken,
    refresh: async current => {
      refreshes.push(current.access_token ?? '')
      return await (options.refresh?.(current) ?? Promise.resolve(made(`t${refreshes.length}`)))
    }
  })
  return { clock, tokens, refreshes, holder, made, log }
}

test('read once from the store, then at hand without a promise', async () => {
  const { tokens, holder } = start()
  assert.equal(tokens.fresh(), null)
  assert.equal(await tokens.current(never), 't0')
  assert.equal(tokens.fresh(), 't0')
  assert.ok(holder instanceof MemoryHolder)
  await tokens.current(never)
  assert.deepEqual({ reads: holder.reads, renewals: holder.renewals }, { reads: 1, renewals: 0 })
})

test('renewed in the background at four fifths of its life, and the old one serves meanwhile', async () => {
  const { clock, tokens, refreshes } = start()
  await tokens.current(never)
  await clock.advance(79_999)
  assert.equal(tokens.fresh(), 't0')
  await settled()
  assert.deepEqual(refreshes, [])
  await clock.advance(1)
  assert.equal(tokens.fresh(), 't0')
  assert.equal(tokens.fresh(), 't0')
  await settled()
  assert.equal(tokens.fresh(), 't1')
  assert.deepEqual(refreshes, ['t0'])
})

test('an ended token is never given out', async () => {
  const { clock, tokens } = start()
  await tokens.current(never)
  await clock.advance(LIFE_MS - 1_000)
  assert.equal(tokens.fresh(), null)
  assert.equal(await tokens.current(never), 't1')
})

test('twenty at once make one renewal', async () => {
  const { clock, tokens, refreshes } = start()
  await tokens.current(never)
  await clock.advance(LIFE_MS)
  assert.deepEqual(new Set(await Promise.all(Array.from({ length: 20 }, () => tokens.current(never)))), new Set(['t1']))
  assert.deepEqual(refreshes, ['t0'])
})

test('a renewal ahead that fails is tried again later, quietly, and breaks nothing', async () => {
  const { clock, tokens, refreshes, log } = start({ refresh: () => Promise.reject(new BrokerFault('unreachable', 'down')) })
  await tokens.current(never)
  await clock.advance(80_000)
  assert.equal(tokens.fresh(), 't0')
  await settled()
  assert.equal(tokens.fresh(), 't0')
  await settled()
  assert.equal(refreshes.length, 1)
  await clock.advance(5_000)
  tokens.fresh()
  await settled()
  assert.equal(refreshes.length, 2)
  assert.ok(log.lines.every(line => !JSON.stringify(line).includes('t0')))
})

test('a refused grant is remembered: it is not tried again', async () => {
  const { clock, tokens, refreshes } = start({ refresh: () => Promise.reject(new BrokerFault('credentials_rejected', 'invalid_grant')) })
  await tokens.current(never)
  await clock.advance(LIFE_MS)
  for (let index = 0; index < 3; index += 1) await assert.rejects(tokens.current(never), isRejected)
  await assert.rejects(tokens.replacement('t0', never), isRejected)
  assert.equal(tokens.fresh(), null)
  assert.equal(refreshes.length, 1)
})

test('one 401 is answered by one renewal', async () => {
  const { tokens, refreshes } = start()
  const used: string[] = []
  const result = await tokens.withToken(async token => {
    used.push(token)
    return { unauthorized: used.length === 1, result: token }
  }, never)
  assert.deepEqual({ result, used, refreshes }, { result: 't1', used: ['t0', 't1'], refreshes: ['t0'] })
})

test('a 401 to a token just obtained is definitive', async () => {
  const { tokens, refreshes } = start()
  await assert.rejects(
    tokens.withToken(async () => ({ unauthorized: true, result: null }), never),
    isRejected
  )
  assert.equal(refreshes.length, 1)
})

test('a 401 to a token that another process obtained is not: it is renewed once more', async () => {
  const clock = new VirtualClock()
  const elsewhere: CredentialsHolder = {
    read: () => Promise.resolve({ access_token: 'old' }),
    renew: async (used, refresh, signal) => (used.access_token === 'old' ? { access_token: 'theirs' } : await refresh(used, signal))
  }
  const tokens = new TokenSource({
    holder: elsewhere,
    clock,
    log: new MemoryLog(),
    tokenOf: oauthToken,
    refresh: () => Promise.resolve({ access_token: 'ours' })
  })
  assert.equal(await tokens.withToken(async token => ({ unauthorized: token !== 'ours', result: token }), never), 'ours')
})

test('twenty 401s at once make one renewal', async () => {
  const { tokens, refreshes } = start()
  const calls = Array.from({ length: 20 }, () => tokens.withToken(async token => ({ unauthorized: token === 't0', result: token }), never))
  assert.deepEqual(new Set(await Promise.all(calls)), new Set(['t1']))
  assert.deepEqual(refreshes, ['t0'])
})

test('one who gives up does not take the renewal from the others', async () => {
  const answer = Promise.withResolvers<Credentials>()
  const { clock, tokens } = start({ refresh: () => answer.promise })
  await tokens.current(never)
  await clock.advance(LIFE_MS)
  const giveUp = new AbortController()
  const impatient = assert.rejects(
    tokens.current(giveUp.signal),
    (error: unknown) => error instanceof BrokerFault && error.kind === 'unreachable'
  )
  const patient = tokens.current(never)
  giveUp.abort()
  await impatient
  answer.resolve({ access_token: 'new' })
  assert.equal(await patient, 'new')
})

function isRejected(error: unknown): boolean {
  return error instanceof BrokerFault && error.kind === 'credentials_rejected'
}
