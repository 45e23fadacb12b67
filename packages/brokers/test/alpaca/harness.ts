/** Alpaca's adapter at the sandbox that emulates Alpaca. */

import { uuidFor } from '@trunkline/sandbox/dialects/alpaca/values'
import { ALPACA_SETTINGS, type AlpacaSettings, alpaca } from '../../src/alpaca/definition.ts'
import { ORDERS_PAGE } from '../../src/alpaca/orders.ts'
import type { BrokerDeps } from '../../src/kit/deps.ts'
import type { SandboxAccess } from '../../src/kit/settings.ts'
import { HEARTBEAT_MS, type SandboxProcess } from '../sandbox/sandbox-process.ts'
import { systemClock } from '../support/clocks.ts'
import type { Definition, DialectBroker } from '../support/dialect-harness.ts'
import { fullPages, isRecord } from '../support/endless.ts'

/** The silence of a busy machine is not the broker's. */
export const PING_MS = 2 * HEARTBEAT_MS

/** What Alpaca allows on its smallest plan. */
const LIMITS = { requests_per_minute: 200, connections_per_stream: 1, symbols_per_stream: 30 }

/** The sandbox as strict as Alpaca. */
export async function strict(starting: Promise<SandboxProcess>): Promise<SandboxProcess> {
  const sandbox = await starting
  await sandbox.control('PUT', '/dialects/alpaca', LIMITS)
  return sandbox
}

const { table, choose } = ALPACA_SETTINGS

/** What an empty environment leads to. */
export function settingsAt(sandbox: SandboxAccess, pingMs: number): AlpacaSettings {
  const choice = choose({
    clientId: table.clientId.fallback,
    clientSecret: table.clientSecret.fallback,
    apiKeys: table.apiKeys.fallback,
    environment: table.environment.fallback,
    stockFeed: table.stockFeed.fallback,
    optionFeed: table.optionFeed.fallback
  })
  if (choice.at !== 'sandbox') throw new Error('without settings the sandbox brokerage stands in for Alpaca')
  return { ...choice.settings(sandbox), pingMs }
}

export function alpacaAt(sandbox: SandboxAccess, deps: BrokerDeps, pingMs = PING_MS): Definition {
  return alpaca(settingsAt(sandbox, pingMs), deps)
}

const PATHS = { balances: 'account', positions: 'positions', orders: 'orders?status=all', transactions: 'account/activities' } as const

export const ALPACA: DialectBroker = {
  name: 'alpaca',
  define: (sandbox, deps) => alpacaAt(sandbox, deps),
  clock: systemClock,
  // The crypto account is part of the one account at Alpaca.
  accounts: [
    { kind: 'margin', cash: '100000' },
    { kind: 'coin', cash: '100000' }
  ],
  accountOf: ({ kind }, username) => (kind === 'futures' ? null : uuidFor(`account ${username}`)),
  ids: 'uuid',
  path: on => `/alpaca/api/v2/${PATHS[on]}`,
  authorize: ({ access_token: token }) => ({ authorization: `Bearer ${token}` }),
  // An account's balance is returned with the account.
  operations: { accounts: ['balances.list'] },
  throttledSubmit: 'refused',
  endless: () =>
    fullPages(
      ORDERS_PAGE,
      answer => (Array.isArray(answer) && answer.every(isOrder) ? answer : null),
      orders => orders
    ),
  patienceMs: 20_000,
  unknownOrderId: '00000000-0000-4000-8000-000000000000'
}

function isOrder(record: unknown): boolean {
  return isRecord(record) && 'client_order_id' in record
}
