/** A broker's adapter under the market contract, against the sandbox that emulates that broker: every case gets its own login. */

import assert from 'node:assert/strict'
import type { MarketHarness, MarketSymbols } from '@trunkline/testkit/market-contract/index'
import { type Json, SandboxProcess } from '../sandbox/sandbox-process.ts'
import { credentialsOf, type DialectBroker, definitionAt, dialectOf } from './dialect-harness.ts'
import { MemoryHolder } from './holder.ts'

/** Long enough that a sandbox which skips minutes at once is not taken for a silent one. */
export const MARKET_HEARTBEAT_MS = 1_000

export interface DialectMarket {
  readonly broker: DialectBroker
  readonly symbols: MarketSymbols
  readonly patienceMs: number
}

export function startMarketSandbox(): Promise<SandboxProcess> {
  return SandboxProcess.start({ SANDBOX_HEARTBEAT_MS: String(MARKET_HEARTBEAT_MS) })
}

export async function openDialectMarket(sandbox: SandboxProcess, { broker, symbols, patienceMs }: DialectMarket): Promise<MarketHarness> {
  const of = { ...dialectOf(broker), on: 'market' }
  await sandbox.control('POST', '/streams', { do: 'normal', ...of })
  const { login } = await sandbox.control('POST', '/logins', { accounts: broker.accounts })
  const definition = definitionAt(sandbox, broker, sandbox.url)
  const session = definition.open(new MemoryHolder(await credentialsOf(sandbox, broker, login.username)))
  const { market } = session
  assert.ok(market !== null)
  const isOwn = (streams: Json) => streams.login === login.id && streams.on === 'market' && streams.dialect === of.dialect
  return {
    capabilities: definition.capabilities.marketData,
    market,
    symbols,
    patienceMs,
    close: async () => await session[Symbol.asyncDispose](),
    venue: {
      async stream(fault) {
        await sandbox.control('POST', '/streams', { do: fault, login: login.username, ...of })
      },
      async open() {
        const { items } = await sandbox.control('GET', '/streams')
        return items.filter(isOwn).reduce((open: number, streams: Json) => open + streams.waiting.length, 0)
      },
      async advance(ms) {
        await sandbox.control('PUT', '/clock', { advance_ms: ms })
      },
      async revoke() {
        await sandbox.control('POST', `/logins/${login.username}/revoke`, {})
      }
    },
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]()
      await definition[Symbol.asyncDispose]()
    }
  }
}
