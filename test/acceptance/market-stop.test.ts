// The service stops: every market data session is notified.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketStage } from './market-stage.ts'

const GOING_AWAY = 1001

test('a service that stops closes its market data sessions with 1001, and lets nobody in any more', async () => {
  await using stage = await MarketStage.open()
  const viewer = await stage.viewer()
  await using known = await viewer.session()
  for (const channel of ['quotes', 'trades', 'depth'] as const) await known.updated(await known.subscribe(channel, 'SPY'))
  await using unauthenticated = await stage.knock({ address: stage.address() })
  stage.service.interrupt()
  for (const client of [known, unauthenticated]) assert.equal((await client.ended()).code, GOING_AWAY)
  await assert.rejects(stage.knock())
})
