/** A login at the sandbox for one case of the market contract. */

import assert from 'node:assert/strict'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { MarketHarness } from '@trunkline/testkit/market-contract/index'
import { SANDBOX_CAPABILITIES, sandbox } from '../../../src/sandbox/definition.ts'
import { systemClock } from '../../support/clocks.ts'
import { MemoryHolder } from '../../support/holder.ts'
import { MemoryLog } from '../../support/log.ts'
import { MemoryMeter } from '../../support/meter.ts'
import { type Json, SandboxProcess } from '../sandbox-process.ts'

/** Long enough that a sandbox which skips minutes at once is not taken for a silent one. */
const HEARTBEAT_MS = 1_000

export function startSandbox(): Promise<SandboxProcess> {
  return SandboxProcess.start({ SANDBOX_HEARTBEAT_MS: String(HEARTBEAT_MS) })
}

export async function openMarket(sandboxProcess: SandboxProcess): Promise<MarketHarness> {
  const { login } = await sandboxProcess.control('POST', '/logins', { accounts: [] })
  const token = await sandboxProcess.control('POST', `/logins/${login.username}/token`, {})
  const { clientId, clientSecret, url } = sandboxProcess
  const definition = sandbox(
    { baseUrl: url, clientId, clientSecret },
    { clock: systemClock, fraction: () => 0.05, log: new MemoryLog(), meter: new MemoryMeter() }
  )
  const nowMs = epochMs(systemClock.now())
  const broker = definition.open(
    new MemoryHolder({
      access_token: token.access_token,
      refresh_token: token.refresh_token,
      issued_at: timestampOfMs(nowMs),
      expires_at: timestampOfMs(nowMs + token.expires_in * 1_000)
    })
  )
  assert.ok(broker.market !== null)
  const own = (streams: Json) => streams.login === login.id && streams.on === 'market'
  return {
    capabilities: SANDBOX_CAPABILITIES.marketData,
    market: broker.market,
    symbols: { busy: 'BTC/USD', other: 'ETH/USD', underlying: 'SPY', unknown: 'NOSUCH' },
    patienceMs: 20_000,
    close: async () => await broker[Symbol.asyncDispose](),
    venue: {
      async stream(fault) {
        await sandboxProcess.control('POST', '/streams', { do: fault, on: 'market', login: login.username })
      },
      async open() {
        const { items } = await sandboxProcess.control('GET', '/streams')
        return items.find(own)?.seq.length ?? 0
      },
      async advance(ms) {
        await sandboxProcess.control('PUT', '/clock', { advance_ms: ms })
      },
      async revoke() {
        await sandboxProcess.control('POST', `/logins/${login.username}/revoke`, {})
      }
    },
    async [Symbol.asyncDispose]() {
      await broker[Symbol.asyncDispose]()
      await definition[Symbol.asyncDispose]()
    }
  }
}
