// The sandbox rotates refresh tokens and accepts a spent one again for a while; its answers are lost on purpose.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { openSandbox } from './harness.ts'
import { SandboxProcess } from './sandbox-process.ts'

const sandbox = SandboxProcess.start()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

const isRejected = (error: unknown) => error instanceof BrokerFault && error.kind === 'credentials_rejected'

/** The same access token, marked as due for a renewal and expiring in `ms`. */
function ageing(credentials: Credentials, ms: number): Credentials {
  const now = epochMs(systemClock.now())
  return { ...credentials, issued_at: timestampOfMs(now - 1_000_000), expires_at: timestampOfMs(now + ms) }
}

async function open(graceMs: number) {
  const at = await sandbox
  const harness = await openSandbox(at)
  await at.control('PUT', '/oauth', { refresh_grace_ms: graceMs })
  return harness
}

test('a refresh whose answer was lost is made good within the grace period, and the login goes on', async () => {
  await using harness = await open(60_000)
  for (const how of ['lose_answer', 'truncate', 'garbage'] as const) {
    const before = await harness.venue.requests('token')
    await harness.venue.injectFault('token', { kind: how }, 1)
    const holder = new MemoryHolder(harness.expired(harness.credentials))
    const broker = harness.open(holder)
    assert.ok((await broker.accounts(soon())).items.length > 0, how)
    assert.equal(await harness.venue.requests('token'), before + 2, how)
    assert.notEqual(holder.credentials.refresh_token, harness.credentials.refresh_token)
  }
})

test('without a grace period the access token serves until the sandbox refuses it, and only that ends the login', async () => {
  await using harness = await open(0)
  await harness.venue.injectFault('token', { kind: 'lose_answer' }, 1)
  const broker = harness.open(new MemoryHolder(ageing(harness.credentials, 60_000)))
  // The renewal ahead begins with the second: its answer is lost, and the refresh token refused when it is sent again.
  for (let read = 0; read < 2; read += 1) assert.ok((await broker.accounts(soon())).items.length > 0)
  await until(async () => (await harness.venue.requests('token')) >= 2, 'the refresh was repeated')
  // This sandbox ends the whole login for it, as brokers do that take it for theft: the access token shows that.
  await assert.rejects(
    until(async () => (await broker.accounts(soon())).items.length === 0, 'the sandbox refuses the access token'),
    isRejected
  )
})

test('and a sandbox that leaves it valid is called with it until it expires', async () => {
  await using harness = await open(0)
  await harness.venue.injectFault('token', { kind: 'lose_answer' }, 1)
  // The first answer is lost; the second is the usual answer to a spent token, and spares the access token.
  await (await sandbox).control('POST', '/faults', { on: 'token', do: 'status', status: 400, code: 'invalid_grant', times: 100 })
  const broker = harness.open(new MemoryHolder(ageing(harness.credentials, 6_000)))
  for (let read = 0; read < 2; read += 1) assert.ok((await broker.accounts(soon())).items.length > 0)
  await until(async () => (await harness.venue.requests('token')) >= 2, 'the refresh was repeated')
  for (let read = 0; read < 20; read += 1) assert.ok((await broker.accounts(soon())).items.length > 0)
  await assert.rejects(
    until(async () => (await broker.accounts(soon())).items.length === 0, 'the access token has ended'),
    isRejected
  )
})
