/** The sandbox brokerage by its own API. */

import type { BrokerHarness } from '@trunkline/testkit/broker-contract/index'
import { sandbox } from '../../src/sandbox/definition.ts'
import { systemClock } from '../support/clocks.ts'
import { type DialectBroker, openDialect } from '../support/dialect-harness.ts'
import { isRecord } from '../support/endless.ts'
import type { SandboxProcess } from './sandbox-process.ts'

export const SANDBOX: DialectBroker = {
  name: null,
  define: ({ url, clientId, clientSecret }, deps) => sandbox({ baseUrl: url, clientId, clientSecret }, deps),
  clock: systemClock,
  accounts: [
    { kind: 'margin', cash: '100000' },
    { kind: 'coin', cash: '100000' },
    { kind: 'futures', cash: '1000000' }
  ],
  accountOf: ({ id }) => id,
  ids: 'same',
  path: (on, account) => `/api/v1/${on}?account=${account}`,
  authorize: ({ access_token: token }) => ({ authorization: `Bearer ${token}` }),
  throttledSubmit: 'refused',
  endless: () => answer => (isRecord(answer) && 'next' in answer ? { ...answer, next: 'again' } : answer),
  patienceMs: 20_000,
  unknownOrderId: 'no-such-order'
}

export async function openSandbox(process: SandboxProcess): Promise<BrokerHarness> {
  // A server that rotates refresh tokens grants a grace period to clients whose answer was lost.
  await process.control('PUT', '/oauth', { refresh_grace_ms: 30_000 })
  return await openDialect(process, SANDBOX)
}
