// A node of its own process that renews one connection's credentials on each message. See refresh-nodes.slow.test.ts.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { StoredCredentials } from '@trunkline/core/app/broker-access/credentials'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { type ConnectionId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials } from '@trunkline/core/ports/broker'
import { ENDPOINT } from '@trunkline/testkit/store-contract/records'
import { openStore } from '../../src/store/index.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { FixedKeyRing, parseKeySet } from '../../src/vault/master-keys.ts'
import { testDeps } from './deps.ts'

const [url, keys, connectionId, userKey, tokenUrl, speed] = process.argv.slice(2)
assert.ok(url !== undefined && keys !== undefined && tokenUrl !== undefined)

const deps = testDeps()
/** Time that runs faster, so that a claim ends while the test waits. */
const factor = Number(speed)
const startedAt = performance.timeOrigin + performance.now()
const clock = {
  ...deps.clock,
  now: () => timestampOfMs(startedAt + (performance.timeOrigin + performance.now() - startedAt) * factor),
  monotonicMs: () => performance.now() * factor,
  sleep: (ms: number, signal?: AbortSignal) => deps.clock.sleep(ms / factor, signal)
}
await using store = await openStore({ kind: 'postgres', url, poolMax: 2 }, deps)
const vault = new EnvelopeVault(new FixedKeyRing(parseKeySet(keys)))
const owner = { connectionId: parseUuid<ConnectionId>(connectionId, 'connection'), userKey: parseUuid<UserKey>(userKey, 'user') }
const holder = new StoredCredentials({ store, vault, clock, ids: deps.ids, ownership: soleOwnership }, owner, ENDPOINT)
const signal = new AbortController().signal

async function refresh({ token = '' }: Credentials, until: AbortSignal, mayBeSpent?: boolean): Promise<Credentials> {
  const answer = await fetch(tokenUrl ?? '', {
    method: 'POST',
    body: token,
    signal: until,
    headers: { 'x-may-be-spent': String(mayBeSpent) }
  }).catch((cause: unknown) => {
    throw new BrokerFault('unreachable', 'no answer', { cause })
  })
  if (!answer.ok) throw new BrokerFault('credentials_rejected', 'invalid_grant')
  return { token: await answer.text() }
}

const done = Promise.withResolvers<void>()
process.on('message', message => {
  if (message === 'end') done.resolve()
  else
    holder
      .read(signal)
      .then(current => holder.renew(current, refresh, signal))
      .then(
        ({ token }) => process.send?.({ token }),
        (fault: unknown) => process.send?.({ fault: fault instanceof Error ? fault.message : String(fault) })
      )
})
process.send?.({ ready: randomUUID() })
await done.promise
process.disconnect?.()
