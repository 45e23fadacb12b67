// What takes long: backfills of more bars than history has, some of them made of very many smaller ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertBars, closedOf } from './market-bars.ts'
import { MarketStage } from './market-stage.ts'

const ANSWER_MS = 60_000

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
    const ask = () => client.ask({ action: 'subscribe', channel: 'bars', symbol, interval, session, backfill_nbars: count }, ANSWER_MS)
    let reply = await ask()
    // On a machine that is busy with other things the house may take too long once, and the refusal says what to do.
    for (let again = 0; again < 3 && reply.error_code === 'broker_unavailable'; again += 1) reply = await ask()
    assert.equal(reply.type, 'subscription_success', `${what}: ${JSON.stringify(reply)}`)
    await client.updated(reply.sub_id, least, 60_000)
    await client.quiet()
    const bars = closedOf(client, reply.sub_id)
    assertBars(bars, what)
    assert.ok(bars.length >= least && bars.length < count, `${bars.length}, ${what}`)
    await client.unsubscribe(reply.sub_id)
  }
})
