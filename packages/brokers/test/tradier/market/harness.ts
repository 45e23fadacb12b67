/** A login at the sandbox that emulates Tradier, for one case of the market contract. */

import assert from 'node:assert/strict'
import type { MarketHarness } from '@trunkline/testkit/market-contract/index'
import { tradier } from '../../../src/tradier/definition.ts'
import { type Json, SandboxProcess } from '../../sandbox/sandbox-process.ts'
import { systemClock } from '../../support/clocks.ts'
import { MemoryHolder } from '../../support/holder.ts'
import { MemoryLog } from '../../support/log.ts'
import { MemoryMeter } from '../../support/meter.ts'
import { settingsAt } from '../harness.ts'

/** A quarter of it the adapter lets the market stream be quiet before it looks whether it should be. */
const HEARTBEAT_MS = 4_000

export function startSandbox(): Promise<SandboxProcess> {
  return SandboxProcess.start()
}

export async function openMarket(sandbox: SandboxProcess): Promise<MarketHarness> {
  const { login } = await sandbox.control('POST', '/logins', { accounts: [] })
  const { credentials } = await sandbox.control('POST', `/logins/${login.username}/token`, { dialect: 'tradier' })
  const { clientId, clientSecret, url } = sandbox
  const deps = { clock: systemClock, fraction: () => 0.05, log: new MemoryLog(), meter: new MemoryMeter() }
  const definition = tradier({ ...settingsAt(url, url, { clientId, clientSecret }), heartbeatMs: HEARTBEAT_MS }, deps)
  const broker = definition.open(new MemoryHolder(credentials))
  const { market } = broker
  assert.ok(market !== null)
  const own = (streams: Json) => streams.dialect === 'tradier' && streams.on === 'market' && streams.login === login.id
  return {
    capabilities: definition.capabilities.marketData,
    market,
    // Shares only, of which the first two here have no options.
    symbols: { busy: 'AMZN', other: 'GOOG', underlying: 'SPY', unknown: 'NOSUCH' },
    patienceMs: 60_000,
    close: async () => await broker[Symbol.asyncDispose](),
    venue: {
      async stream(fault) {
        await sandbox.control('POST', '/streams', { do: fault, on: 'market', login: login.username, dialect: 'tradier' })
      },
      async open() {
        const { items } = await sandbox.control('GET', '/streams')
        return items.filter(own).reduce((open: number, { waiting }: Json) => open + waiting.length, 0)
      },
      async advance(ms) {
        await sandbox.control('PUT', '/clock', { advance_ms: ms })
      },
      async revoke() {
        await sandbox.control('POST', `/logins/${login.username}/revoke`, {})
      }
    },
    async [Symbol.asyncDispose]() {
      await broker[Symbol.asyncDispose]()
      await definition[Symbol.asyncDispose]()
    }
  }
}
