// What only time shows: the window for authentication on the market data stream.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketStage } from './market-stage.ts'

const WINDOW_MS = 30_000

test('who has not authenticated within 30 seconds is closed with 4001, whatever else is sent', async () => {
  await using stage = await MarketStage.open()
  const viewer = await stage.viewer()
  const address = stage.address()
  const from = performance.now()
  await using silent = await stage.knock({ address })
  await using wrong = await stage.knock({ address })
  await using busy = await stage.knock({ address })
  await using known = await viewer.session()
  const subId = await known.subscribe('quotes', 'AAPL')
  assert.equal((await wrong.ask({ action: 'authenticate', access_token: 'mdt_nothing' })).error_code, 'auth_error')
  for (let count = 0; count < 5; count++) assert.equal((await busy.ask({ action: 'list_subscriptions' })).error_code, 'not_authenticated')
  for (const client of [silent, wrong, busy]) {
    assert.equal((await client.ended()).code, 4001)
    const tookMs = performance.now() - from
    assert.ok(tookMs > WINDOW_MS - 1_000, `after ${tookMs} ms`)
  }
  assert.equal(silent.received, 0)
  assert.ok(known.updates(subId).length > 10, 'who has authenticated stays')
  await known.quiet()
})
