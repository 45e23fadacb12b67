// Market data by REST: expirations, the last quote, past bars in pages; the same as on the stream.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { MarketStage, type Viewer } from './market-stage.ts'

describe('reads of the market', () => {
  let stage: MarketStage
  let viewer: Viewer
  const read = (path: string) => viewer.call('GET', `/connections/${viewer.connectionId}/market-data/${path}`)
  before(async () => {
    stage = await MarketStage.open()
    viewer = await stage.viewer()
  })
  after(() => stage[Symbol.asyncDispose]())

  test('symbols are found by their beginning and by name, as many as were asked for', async () => {
    const search = async (query: string) => (await read(`symbols?search=${query}`)).body.symbols
    const [first] = await search('spy')
    assert.deepEqual([first.symbol, first.instrument], ['SPY', 'STK'])
    assert.ok((await search('apple')).some(({ symbol }: { symbol: string }) => symbol === 'AAPL'))
    assert.equal((await search('a&limit=1')).length, 1)
    assert.deepEqual(await search('there-is-no-such-thing'), [])
  })

  test('the days on which options expire ascend, and each has a chain on the stream', async () => {
    const { status, body } = await read('expirations?symbol=SPY')
    assert.equal(status, 200)
    assert.deepEqual([body.symbol, body.expirations], ['SPY', [...new Set(body.expirations)].toSorted()])
    assert.ok(body.expirations.length > 3 && Number.isFinite(Date.parse(body.as_of)))
    await using client = await viewer.session()
    await client.updated(await client.subscribe('options_chain', 'SPY', { expiration: body.expirations[0] }))
    assert.deepEqual((await read('expirations?symbol=BTC%2FUSD')).body.expirations, [])
  })

  test('a chain is whole: each contract of the stream once, by strike, with its market and greeks', async () => {
    const [expiration] = (await read('expirations?symbol=SPY')).body.expirations
    const { status, body } = await read(`chain?symbol=SPY&expiration=${expiration}`)
    assert.equal(status, 200, JSON.stringify(body).slice(0, 300))
    assert.deepEqual([body.symbol, body.expiration, Number.isFinite(Date.parse(body.as_of))], ['SPY', expiration, true])
    const symbols: readonly string[] = body.contracts.map(({ symbol }: { symbol: string }) => symbol)
    const strikes: readonly number[] = body.contracts.map((contract: { strike_price: string }) => Number(contract.strike_price))
    assert.deepEqual(
      strikes,
      strikes.toSorted((a, b) => a - b)
    )
    assert.ok(
      body.contracts.every(({ option_type: type, symbol }: Record<string, string>) => symbol?.includes(type === 'Call' ? 'C0' : 'P0'))
    )
    assert.ok(body.contracts.some(({ bid, ask, delta }: Record<string, string | null>) => bid !== null && ask !== null && delta !== null))
    await using client = await viewer.session()
    const subId = await client.subscribe('options_chain', 'SPY', { expiration })
    const streamed = () => new Set(client.messages(subId).map(({ legs }) => legs[0].sym))
    await client.until(() => streamed().size === symbols.length, 'every contract is streamed')
    assert.deepEqual([...streamed()].toSorted(), symbols.toSorted())
  })

  test('the last quote is there with its time, whether anybody follows it or not', async () => {
    for (const symbol of ['SPY', 'BTC%2FUSD']) {
      const { status, body } = await read(`quote?symbol=${symbol}`)
      assert.equal(status, 200, JSON.stringify(body))
      assert.match(body.bid_price, /^\d+(?:\.\d+)?$/)
      assert.ok(Number(body.bid_price) <= Number(body.ask_price), JSON.stringify(body))
      assert.ok(Number.isFinite(Date.parse(body.quoted_at)) && Number.isFinite(Date.parse(body.as_of)))
    }
  })

  test('past bars come in pages that join, as the snapshot has them', async () => {
    const [start, end] = ['2026-01-05T15:00:00Z', '2026-01-05T18:00:00Z']
    await using client = await viewer.session()
    const snapshot = await client.snapshot('SPY', '7m', start, end)
    const bars = []
    let from: string | null = start
    for (let pages = 0; from !== null; pages += 1) {
      assert.ok(pages < 20)
      const { status, body }: Awaited<ReturnType<typeof read>> = await read(`bars?symbol=SPY&interval=7m&start=${from}&end=${end}&limit=10`)
      assert.equal(status, 200, JSON.stringify(body))
      assert.ok(body.bars.length <= 10)
      bars.push(...body.bars)
      from = body.next_start
    }
    assert.deepEqual(
      bars.map(({ start, open, high, low, close, volume }) => [Date.parse(start), open, high, low, close, volume]),
      snapshot.map(({ ts, o, h, l, c, v }) => [Number(ts.slice(0, -6)), o, h, l, c, v])
    )
  })

  test('what the broker has not is 422 with a code, and a connection that is gone 404', async () => {
    for (const path of ['quote?symbol=NOPE', 'expirations?symbol=NOPE']) {
      const { status, body } = await read(path)
      assert.deepEqual([status, body.code], [422, 'market_data_unsupported'], path)
    }
  })
})
