// What takes long: backfills of more bars than history has, and of what would be made of too many smaller ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { assertBars, closedOf } from './market-bars.ts'
import { MarketStage } from './market-stage.ts'

test('a backfill longer than history gives what there is', async () => {
  // A market that is open around the clock has more than twice as many of them.
  await using stage = await MarketStage.open({ SANDBOX_CALENDAR: 'exchange' })
  const viewer = await stage.viewer()
  await using client = await viewer.session()
  for (const [symbol, interval, count, session, least] of [
    ['SPY', '1y', 100, 'BrokerDefault', 20],
    ['SPY', '1M', 5_000, 'BrokerDefault', 240],
    ['SPY', '1w', 5_000, 'BrokerDefault', 1_000],
    ['BTC/USD', '1y', 100, 'BrokerDefault', 20],
    // The broker's own days are of the core session.
    ['SPY', '1y', 40, 'USEqCore', 20],
    ['SPY', '1M', 5_000, 'USEqCore', 240]
  ] as const) {
    const what = `${count} of ${interval} of ${symbol} in ${session}`
    const request = { action: 'subscribe', channel: 'bars', symbol, interval, session, backfill_nbars: count }
    const reply = await client.ask(request, PATIENCE_MS)
    assert.equal(reply.type, 'subscription_success', `${what}: ${JSON.stringify(reply)}`)
    await client.updated(reply.sub_id, least)
    await client.quiet()
    const bars = closedOf(client, reply.sub_id)
    assertBars(bars, what)
    assert.ok(bars.length >= least && bars.length < count, `${bars.length}, ${what}`)
    await client.unsubscribe(reply.sub_id)
  }
  // Its extended hours are only in its shorter bars: too many for one request, which says how many it may be.
  const years = { action: 'subscribe', channel: 'bars', symbol: 'SPY', interval: '1y', session: 'USEqPreMkt' }
  const refused = await client.ask({ ...years, backfill_nbars: 40 }, PATIENCE_MS)
  assert.equal(refused.error_code, 'invalid_request', JSON.stringify(refused))
  const [, most = ''] = /ask for at most (\d+)/.exec(refused.message) ?? []
  const reply = await client.ask({ ...years, backfill_nbars: Number(most) }, PATIENCE_MS)
  await client.updated(reply.sub_id, Number(most))
})
