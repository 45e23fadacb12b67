// F39 at every broker: the machine's clock is set while the application follows four brokers over real sockets.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readMarket } from '@trunkline/core/app/market/read-market'
import { type OrderRequest, placeOrder } from '@trunkline/core/app/orders/place-order'
import { parseDecimal } from '@trunkline/core/domain/decimal'
import { parseClOrdId } from '@trunkline/core/domain/ids'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { until } from '@trunkline/testkit/until'
import { openStore, type SqlStore } from '../../src/store/index.ts'
import { testDeps } from '../store/deps.ts'
import { copyStore } from '../store/template.ts'
import { complaints } from './four-checks.ts'
import { FourWorld, type Through } from './four-world.ts'

const MINUTE_MS = 60_000
/** Ahead of the true time, one after the other. */
const SETTINGS = [-1, 5, -120, 0, 120, -5, 0].map(minutes => minutes * MINUTE_MS)
/** Longer than a run, and shorter than what the clock is set by: by the wall clock a token would end again and again. */
const ACCESS_TTL_S = 1_800
/** What the clocks of two programs and a busy machine may differ by, far below every setting. */
const APART_MS = 30_000

let store: SqlStore
let directory: string
before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'trunkline-clock-'))
  await copyStore(join(directory, 'data'))
  store = await openStore({ kind: 'embedded', dataDir: join(directory, 'data') }, testDeps())
})
after(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true, force: true })
})

let names = 0

function purchase({ account, connection }: Through): OrderRequest {
  return {
    accountId: account.accountId,
    clOrdId: parseClOrdId(`moved-${++names}`),
    broker: connection.broker,
    ...{
      side: 'BUY',
      type: 'MKT',
      tif: 'DAY',
      symbol: 'SPY',
      instrument: 'STK',
      limitPrice: null,
      stopPrice: null,
      notional: null,
      legs: null
    },
    quantity: parseDecimal('1', 'quantity')
  }
}

/** Orders, fills, positions and cash of all four are the sandbox's, and every account is followed. */
async function agree(world: FourWorld): Promise<void> {
  let found: readonly string[] = []
  const isWell = async () => {
    const healths = world.through.map(({ broker, connection }) => [broker, world.app.mirrors.health(connection).state])
    found = [...healths.filter(([, state]) => state !== 'live').map(pair => pair.join(' is ')), ...(await complaints(world))]
    return found.length === 0
  }
  await until(isWell, 'all is as the sandbox says').catch(cause => assert.fail(`${cause}: ${found.join('; ')}`))
}

/** The closed bars of a window that is over, and what time the market's source makes of now. */
function market(world: FourWorld, { connection }: Through, startMs: number) {
  return readMarket(world.app, world.caller, connection.connectionId, async of => {
    const window = { start: timestampOfMs(startMs - 20 * MINUTE_MS), end: timestampOfMs(startMs - 2 * MINUTE_MS) }
    const bars = await Array.fromAsync(of.past({ symbol: 'SPY', interval: '1m', ...window }))
    const quote = await of.quote('SPY')
    return { bars: bars.flat(), hasQuote: quote !== null, presentMs: epochMs(of.present()) }
  })
}

test('orders, positions, balances, tokens and bars are right at every broker while the clock is set back and forth', async () => {
  await using world = await FourWorld.open(store, 39)
  await world.control('PUT', '/oauth', { access_ttl_s: ACCESS_TTL_S })
  await agree(world)
  const startMs = Date.now()
  const bars = new Map(
    await Promise.all(world.through.map(async each => [each.broker, (await market(world, each, startMs)).bars] as const))
  )
  for (const [broker, seen] of bars) assert.ok(seen.length > 10, `${broker} has ${seen.length} bars`)
  const tokens = async () => (await world.control('GET', '/counters')).operations.token?.requests ?? 0
  const before = await tokens()
  for (const aheadMs of SETTINGS) {
    world.clock.setAhead(aheadMs)
    for (const each of world.through) await placeOrder(world.app, world.caller, purchase(each))
    await world.control('POST', '/orders', {
      ...{ login: world.username, account: world.sandboxAccount },
      ...{ symbol: 'AAPL', direction: 'buy', kind: 'market', lifetime: 'day', quantity: '1' }
    })
    await agree(world)
    for (const each of world.through) {
      const { bars: seen, hasQuote, presentMs } = await market(world, each, startMs)
      const what = `${each.broker} at ${aheadMs / MINUTE_MS} min`
      assert.deepEqual(seen, bars.get(each.broker), `the same bars through ${what}`)
      assert.ok(hasQuote, `a quote through ${what}`)
      assert.ok(Math.abs(presentMs - Date.now()) < APART_MS, `${what}: its present is ${timestampOfMs(presentMs)}`)
    }
    // Stored times and tokens are read at another time than they were written at.
    if (Math.abs(aheadMs) === 120 * MINUTE_MS) {
      await world.restart('stop')
      await agree(world)
    }
  }
  const requested = (await tokens()) - before
  assert.ok(requested <= 3 * world.through.length, `${requested} tokens were asked for`)
})
