/** Alpaca's adapter with API keys, at the sandbox that emulates Alpaca. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { alpaca } from '../../src/alpaca/definition.ts'
import { type Json, SandboxProcess } from '../sandbox/sandbox-process.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { MemoryMeter } from '../support/meter.ts'
import { RecordingSink } from '../support/recording-sink.ts'
import { PING_MS, settingsAt } from './harness.ts'

test('keys open the account, its stream and the market streams, until they are taken away; unknown keys are rejected at once', async () => {
  await using sandbox = await SandboxProcess.start()
  const { login } = await sandbox.control('POST', '/logins', {
    accounts: [
      { kind: 'margin', cash: '1000' },
      { kind: 'coin', cash: '1000' }
    ]
  })
  const { items } = await sandbox.control('GET', '/logins')
  const { keys } = items.find(({ username }: Json) => username === login.username)
  const settings = { ...settingsAt({ ...sandbox, publicUrl: sandbox.url, hours: 'always' }, PING_MS), login: 'api_key' as const }
  await using definition = alpaca(settings, { clock: systemClock, fraction: () => 0, log: new MemoryLog(), meter: new MemoryMeter() })
  assert.ok(definition.login.kind === 'api_key')
  const credentials = await definition.login.complete(keys.alpaca, soon())
  await using broker = definition.open(new MemoryHolder(credentials))
  const [account] = (await broker.accounts(soon())).items
  assert.ok(account !== undefined)
  const history: string[] = []
  const listened = (async () => {
    for await (const event of broker.events(soon())) history.push(event.type)
  })().catch((error: unknown) => error)
  await until(() => history.includes('live'), 'the account stream is live')
  const sink = new RecordingSink()
  broker.market?.stream({ channel: 'quotes', symbol: 'BTC/USD' }, sink)
  await until(() => sink.history.includes('quote'), 'a quote')
  await sandbox.control('POST', `/logins/${login.username}/revoke`, {})
  const error = await listened
  assert.ok(error instanceof BrokerFault && error.kind === 'credentials_rejected', String(error))
  await using other = definition.open(new MemoryHolder({ key_id: 'PKNOBODY00000001', secret_key: 'a-wrong-secret' }))
  await assert.rejects(other.accounts(soon()), (fault: unknown) => fault instanceof BrokerFault && fault.kind === 'credentials_rejected')
})
