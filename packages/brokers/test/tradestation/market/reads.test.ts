import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bar } from '@trunkline/core/domain/market/records'
import { BrokerFault } from '@trunkline/core/ports/broker'
import type { BarsRequest, MarketSource } from '@trunkline/core/ports/market'
import { soon } from '@trunkline/testkit/patience'
import { json } from '../../support/scripted-host.ts'
import { fixture, type Json } from '../fixtures.ts'
import { Venue } from '../venue.ts'

const fault = (kind: BrokerFault['kind']) => (error: unknown) => error instanceof BrokerFault && error.kind === kind

function marketOf(venue: Venue): MarketSource {
  venue.answer('GET /symbols/MSFT', fixture('market.symbols').body)
  assert.ok(venue.broker.market !== null)
  return venue.broker.market
}

async function barsOf(market: MarketSource, request: BarsRequest): Promise<readonly (readonly Bar[])[]> {
  const pages: (readonly Bar[])[] = []
  for await (const page of market.bars(request, soon())) pages.push(page)
  return pages
}

test('a symbol is requested once in a while; one that does not exist is none, and a failure is a fault', async () => {
  await using venue = await Venue.start()
  const market = marketOf(venue)
  for (const _ of [1, 2]) assert.equal((await market.instrument('MSFT', soon()))?.instrument, 'STK')
  assert.equal(venue.seen('GET /symbols/MSFT').length, 1)
  venue.answer('GET /symbols/NOSUCH', fixture('market.symbols.unknown').body)
  assert.equal(await market.instrument('NOSUCH', soon()), null)
  venue.answer('GET /symbols/OTHER', { Error: 'BadRequest', Message: 'Invalid symbol OTHER' }, 400)
  assert.equal(await market.instrument('OTHER', soon()), null)
  assert.equal(await market.instrument('6JZ26', soon()), null, 'its prices are on another scale')
  for (const [body, status, kind] of [
    [{ Symbols: [], Errors: [{ Error: 'GatewayTimeout', Message: 'later' }] }, 200, 'unreachable'],
    [{ Symbols: [], Errors: [] }, 200, 'malformed'],
    [{ Error: 'BadRequest', Message: 'no' }, 400, 'refused']
  ] as const) {
    venue.answer('GET /symbols/AA', body, status)
    await assert.rejects(market.instrument('AA', soon()), fault(kind))
  }
})

test('the spelling of a symbol is the broker’s', async () => {
  await using venue = await Venue.start()
  const market = marketOf(venue)
  const symbols = ['MSFT261218C00012500', '6EZ26', 'BTC/USD', 'SPX']
  for (const symbol of symbols) await market.instrument(symbol, soon())
  assert.deepEqual(
    venue.host.seen.map(({ path }) => path.split('/').at(-1)),
    ['MSFT%20261218C12.5', 'ECZ26', 'BTCUSD', '%24SPX.X']
  )
})

test('the present is that of the broker’s answers', async () => {
  await using venue = await Venue.start()
  const market = marketOf(venue)
  venue.answer('GET /symbols/MSFT', fixture('market.symbols').body, 200, { date: 'Fri, 01 Jan 2027 00:00:00 GMT' })
  await market.instrument('MSFT', soon())
  assert.ok(market.presentMs() >= Date.UTC(2027, 0, 1) && market.presentMs() < Date.UTC(2027, 0, 1) + 60_000)
})

test('a window longer than an answer is read in stretches, and no further than the present', async () => {
  await using venue = await Venue.start()
  const market = marketOf(venue)
  const day = 86_400_000
  const nowMs = Date.UTC(2026, 10, 20)
  const bar = fixture('market.bars').body.Bars[0]
  venue.answer('GET /symbols/MSFT', fixture('market.symbols').body, 200, { date: new Date(nowMs).toUTCString() })
  venue.answer('GET /barcharts/MSFT', (seen: Json, response: Json) => {
    const requested = new URL(seen.path, 'http://x').searchParams
    const end = new Date(Date.parse(requested.get('firstdate') ?? '') + 60_000).toISOString()
    json(response, 200, { Bars: [{ ...bar, TimeStamp: end }] }, { date: new Date(nowMs).toUTCString() })
  })
  const pages = await barsOf(market, { symbol: 'MSFT', interval: '1m', fromMs: nowMs - 12 * day, toMs: nowMs + 300 * day })
  assert.deepEqual(
    pages.map(([first]) => (nowMs - (first?.startMs ?? 0)) / day),
    [12, 7, 2]
  )
  await assert.rejects(barsOf(market, { symbol: 'MSFT', interval: '1m', fromMs: 0, toMs: nowMs }), fault('refused'))
})

test('refusals of bars come with a success too', async () => {
  await using venue = await Venue.start()
  const market = marketOf(venue)
  const request = { symbol: 'MSFT', interval: '1m', fromMs: 0, toMs: 60_000 }
  venue.answer('GET /barcharts/MSFT', fixture('market.bars.refused').body)
  await assert.rejects(barsOf(market, request), (error: unknown) => fault('refused')(error) && /Not entitled/.test(String(error)))
  venue.answer('GET /barcharts/MSFT', { Error: 'NotFound', Message: 'no bars' }, 404)
  await assert.rejects(barsOf(market, request), fault('refused'))
  venue.answer('GET /barcharts/MSFT', { Bars: [{}] })
  await assert.rejects(barsOf(market, request), fault('malformed'))
  await assert.rejects(barsOf(market, { ...request, interval: '7m' }), fault('refused'))
  await assert.rejects(barsOf(market, { ...request, fromMs: 2, toMs: 1 }), fault('refused'))
})

test('expirations ascend; what has none has none', async () => {
  await using venue = await Venue.start()
  const market = marketOf(venue)
  venue.answer('GET /expirations/MSFT', fixture('market.expirations').body)
  assert.deepEqual(await market.expirations('MSFT', soon()), ['2026-11-27', '2026-12-18'])
  venue.answer('GET /expirations/MSFT', { Error: 'NotFound', Message: 'no options' }, 404)
  assert.deepEqual(await market.expirations('MSFT', soon()), [])
  assert.deepEqual(await market.expirations('6JZ26', soon()), [])
  venue.answer('GET /expirations/MSFT', { Error: 'BadRequest', Message: 'no' }, 400)
  await assert.rejects(market.expirations('MSFT', soon()), fault('refused'))
})
