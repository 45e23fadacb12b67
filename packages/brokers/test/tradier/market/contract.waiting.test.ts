/** Tradier's market data under the market contract: every case gets its own login, in a sandbox with its own time. */

import { after } from 'node:test'
import { marketContract } from '@trunkline/testkit/market-contract/index'
import { tradier } from '../../../src/tradier/definition.ts'
import { SandboxProcess } from '../../sandbox/sandbox-process.ts'
import { systemClock } from '../../support/clocks.ts'
import { openDialectMarket } from '../../support/dialect-market.ts'
import { settingsAt, TRADIER } from '../harness.ts'

/** A quarter of it the adapter lets the market stream be quiet before it looks whether it should be. */
const HEARTBEAT_MS = 4_000
// Shares only, of which the first two here have no options.
const SYMBOLS = { busy: 'AMZN', other: 'GOOG', underlying: 'SPY', unknown: 'NOSUCH' }

const { credentials: _, ...today } = TRADIER
const broker = {
  ...today,
  clock: systemClock,
  define: ({ url, publicUrl, clientId, clientSecret }, deps) =>
    tradier({ ...settingsAt(url, publicUrl, { clientId, clientSecret }), heartbeatMs: HEARTBEAT_MS }, deps)
} satisfies typeof TRADIER

const sandbox = SandboxProcess.start()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

marketContract('TRADIER', async () => await openDialectMarket(await sandbox, { broker, symbols: SYMBOLS, patienceMs: 60_000 }))
