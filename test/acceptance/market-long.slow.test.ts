// What takes long: backfills of more bars than history has, some of them made of very many smaller ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { assertBars, closedOf } from './market-bars.ts'
import { MarketStage } from './market-stage.ts'

test('a backfill longer than history gives what there is, in an acceptable time', async () => {
  // A market that is open around the clock has more than twice as many of them.
  await using stage = await MarketStage.open({ SANDBOX_CALENDAR: 'exchange' })
  const viewer = await stage.viewer()
  await using client = await viewer.session()
  for (const [symbol, interval, count, session, least] of [
    ['SPY', '1y', 100, 'BrokerDefault', 20],
    ['SPY', '1M', 5_000, 'BrokerDefault', 240],
    ['SPY', '1w', 5_000, 'BrokerDefault', 1_000],
    ['BTC/USD', '1y', 100, 'BrokerDefault', 20],
    // Made of so many smaller bars that not all of them are read.
    ['SPY', '1y', 40, 'USEqCore', 3]
  ] as const) {
    const what = `${count} of ${interval} of ${symbol} in ${session}`
    const ask = (bars: number) =>
      client.ask({ action: 'subscribe', channel: 'bars', symbol, interval, session, backfill_nbars: bars }, PATIENCE_MS)
    let asked: number = count
    let reply = await ask(asked)
    // A slow machine may take too long for so many, and the refusal says what to do.
    while (reply.error_code === 'broker_unavailable' && asked > least) {
      assert.match(reply.message, /ask for fewer/)
      asked = Math.max(least, Math.floor(asked / 2))
      reply = await ask(asked)
    }
    assert.equal(reply.type, 'subscription_success', `${what}: ${JSON.stringify(reply)}`)
    await client.updated(reply.sub_id, least)
    await client.quiet()
    const bars = closedOf(client, reply.sub_id)
    assertBars(bars, what)
    assert.ok(bars.length >= least && (asked < count || bars.length < count), `${bars.length}, ${what}`)
    await client.unsubscribe(reply.sub_id)
  }
})
