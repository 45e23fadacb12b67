import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quote, Stage } from '@trunkline/testkit/market-stage'

const TOPIC = { channel: 'quotes', symbol: 'SPY' } as const

test('the last quote is the first one received, and then the stream ends', async () => {
  const stage = new Stage()
  const read = stage.market.quote('SPY')
  await stage.clock.settled()
  const topic = stage.broker.topic('quotes', 'SPY')
  topic.quote(quote('99'))
  topic.quote(quote('100'))
  assert.equal((await read)?.bidPrice, '99')
  assert.equal(stage.market.topics, 0)
})

test('a symbol that is followed already has its quote at once, and stays followed', async () => {
  const stage = new Stage()
  const received = await stage.watch(TOPIC)
  stage.broker.topic('quotes', 'SPY').quote(quote('99'))
  assert.equal((await stage.market.quote('SPY'))?.bidPrice, '99')
  stage.broker.topic('quotes', 'SPY').quote(quote('100'))
  assert.deepEqual(
    received.quotes.map(({ bidPrice }) => bidPrice),
    ['99', '100']
  )
})

test('no quote within three seconds is null; a lost broker or an ended connection gives no quote', async () => {
  const stage = new Stage()
  const silent = stage.market.quote('SPY')
  await stage.pass(3_000)
  assert.equal(await silent, null)
  const lost = assert.rejects(stage.market.quote('SPY'), { code: 'broker_unavailable' })
  await stage.clock.settled()
  stage.broker.lose()
  await lost
  stage.broker.recover()
  const ended = assert.rejects(stage.market.quote('SPY'), { code: 'broker_unavailable' })
  await stage.clock.settled()
  stage.market.end()
  await ended
})
