// Quotes, depth and options chains: exactly what stands at the broker, at once for a new subscriber, and nothing after the end.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Body } from './api.ts'
import { exact } from './market-bars.ts'
import type { MarketClient } from './market-client.ts'
import { GREEKS } from './market-forms.ts'
import { type Level, MarketStage, type Viewer } from './market-stage.ts'

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-3 * Math.max(1, Math.abs(b))

const LEVELS_MAX = 10
const LEVELS = 5

describe('books', () => {
  let stage: MarketStage
  let viewer: Viewer
  before(async () => {
    stage = await MarketStage.open()
    viewer = await stage.viewer()
    await stage.pause()
  })
  after(() => stage[Symbol.asyncDispose]())

  let moves = 0
  /** A book that has not been there before, `levels` deep on each side. */
  const book = (levels = LEVELS_MAX): { readonly bids: readonly Level[]; readonly asks: readonly Level[] } => {
    const cents = 20_000 + 100 * ++moves
    const side = (from: number, step: number): readonly Level[] =>
      Array.from({ length: levels }, (_, index) => [((from + step * index) / 100).toFixed(2), String(100 + moves + 10 * index)])
    return { bids: side(cents - 1, -1), asks: side(cents + 1, 1) }
  }
  const set = async (levels?: number): Promise<ReturnType<typeof book>> => {
    const next = book(levels)
    await stage.quote('AAPL', next.bids, next.asks)
    return next
  }
  const shown = (levels: Body): readonly (readonly [bigint, bigint])[] =>
    levels.map(([price, size]: readonly [string, string]) => [exact(price), exact(size)])
  const meant = (levels: readonly Level[]): readonly (readonly [bigint, bigint])[] =>
    levels.map(([price, size]) => [exact(price), exact(size)])
  const isQuote = (message: Body, { bids, asks }: ReturnType<typeof book>): boolean =>
    [message?.bp, message?.bs, message?.ap, message?.as].map(text => text ?? '').join() ===
    [bids[0]?.[0], bids[0]?.[1], asks[0]?.[0], asks[0]?.[1]].join()
  const sees = (client: MarketClient, subId: string, wanted: ReturnType<typeof book>): Promise<void> =>
    client.until(
      () => {
        const last = client.messages(subId).at(-1)
        return (
          last !== undefined &&
          (last.type === 'depth_update' ? exact(last.b[0]?.[0] ?? '0') === exact(wanted.bids[0]?.[0] ?? '0') : isQuote(last, wanted))
        )
      },
      `${subId} shows ${JSON.stringify(wanted.bids[0])}`
    )

  test('a quote is the best of each side, sent each time it changes', async () => {
    await using client = await viewer.session()
    const subId = await client.subscribe('quotes', 'AAPL')
    for (let count = 0; count < 5; count++) await sees(client, subId, await set())
    const { bids, asks } = book()
    await stage.quote('AAPL', bids, [])
    await client.until(() => client.messages(subId).at(-1)?.ap === null, 'nobody offers')
    assert.deepEqual([client.messages(subId).at(-1)?.as, client.messages(subId).at(-1)?.bp], [null, bids[0]?.[0]])
    await stage.quote('AAPL', [], asks)
    await client.until(() => client.messages(subId).at(-1)?.bp === null, 'nobody bids')
    const times = client.messages(subId).map(({ ts }) => BigInt(ts))
    assert.ok(
      times.every((ts, index) => index === 0 || ts >= (times[index - 1] ?? 0n)),
      'time does not go back'
    )
    assert.ok(Math.abs(Number(times.at(-1)) / 1e6 - (await stage.sandboxMs())) < 60_000, 'the time is the market’s')
  })

  test('a book has as many levels as were asked for, five by default, best first', async () => {
    await using client = await viewer.session()
    const ids = new Map<number, string>()
    for (let levels = 1; levels <= LEVELS_MAX; levels++) ids.set(levels, await client.subscribe('depth', 'AAPL', { n_levels: levels }))
    ids.set(0, await client.subscribe('depth', 'AAPL'))
    ids.set(-1, await client.subscribe('depth', 'AAPL', { n_levels: null }))
    for (const depth of [10, 10, 3, 1, 7]) {
      const wanted = await set(depth)
      for (const [requested, subId] of ids) {
        await sees(client, subId, wanted)
        const last = client.messages(subId).at(-1)
        const levels = requested <= 0 ? LEVELS : requested
        assert.deepEqual(shown(last.b), meant(wanted.bids.slice(0, levels)), `${levels} levels of ${depth}`)
        assert.deepEqual(shown(last.a), meant(wanted.asks.slice(0, levels)), `${levels} levels of ${depth}`)
      }
    }
    await stage.quote('AAPL', [], [])
    for (const subId of ids.values()) await client.until(() => client.messages(subId).at(-1)?.b.length === 0, 'an empty book is sent')
  })

  test('the market’s own books are sorted, ten deep, with the number of orders and a venue', async () => {
    await using client = await viewer.session()
    const subId = await client.subscribe('depth', 'SPY', { n_levels: LEVELS_MAX })
    await stage.pause(false)
    await client.updated(subId, 4).finally(() => stage.pause())
    for (const { b, a } of client.messages(subId)) {
      const [bids, asks] = [b, a].map(shown)
      assert.ok(bids?.every(([price], index) => index === 0 || price < (bids[index - 1]?.[0] ?? 0n)))
      assert.ok(asks?.every(([price], index) => index === 0 || price > (asks[index - 1]?.[0] ?? 0n)))
      assert.ok((bids?.[0]?.[0] ?? 0n) < (asks?.[0]?.[0] ?? 0n), 'the book is not crossed')
      assert.deepEqual([b.length, a.length], [LEVELS_MAX, LEVELS_MAX])
      for (const [, size, orders, venue] of [...b, ...a]) {
        assert.ok(exact(size) > 0n)
        assert.match(orders, /^[1-9]\d*$/)
        assert.ok(venue.length > 0)
      }
    }
  })

  test('who joins late gets the present state at once, on the same socket and on another', async () => {
    await using client = await viewer.session()
    const quotes = await client.subscribe('quotes', 'AAPL')
    const depth = await client.subscribe('depth', 'AAPL', { n_levels: 10 })
    const wanted = await set()
    for (const subId of [quotes, depth]) await sees(client, subId, wanted)
    await using other = await viewer.session()
    for (const session of [client, other]) {
      const [lateQuotes, lateDepth] = [await session.subscribe('quotes', 'AAPL'), await session.subscribe('depth', 'AAPL', { n_levels: 3 })]
      const [quote] = await session.updated(lateQuotes)
      const [levels] = await session.updated(lateDepth)
      assert.deepEqual({ ...quote, sub_id: quotes }, client.messages(quotes).at(-1))
      assert.deepEqual([levels.b, levels.a], [client.messages(depth).at(-1)?.b.slice(0, 3), client.messages(depth).at(-1)?.a.slice(0, 3)])
    }
  })

  test('after the end of a subscription nothing more comes, and others of the same are not touched', async () => {
    await using client = await viewer.session()
    await using other = await viewer.session()
    const ended = [await client.subscribe('quotes', 'AAPL'), await client.subscribe('depth', 'AAPL')]
    const kept = await client.subscribe('quotes', 'AAPL')
    const theirs = await other.subscribe('quotes', 'AAPL')
    await sees(client, kept, await set())
    for (const subId of ended) await client.unsubscribe(subId)
    for (let count = 0; count < 3; count++) {
      const wanted = await set()
      await sees(client, kept, wanted)
      await sees(other, theirs, wanted)
    }
    await client.unsubscribe(kept)
    await sees(other, theirs, await set())
    await client.quiet()
    const again = await client.subscribe('quotes', 'AAPL')
    await sees(client, again, await set())
  })

  test('subscribers of one connection share what is asked of the broker, and the last to go ends it', async () => {
    const own = await stage.viewer()
    const { login } = await stage.sandbox(own, '/me')
    const streams = async (): Promise<number> =>
      (await stage.control('GET', '/streams')).items
        .filter((row: Body) => row.on === 'market' && row.login === login.id)
        .reduce((count: number, row: Body) => count + row.seq.length, 0)
    const one = await own.session()
    const two = await own.session()
    for (const client of [one, two, one]) await client.updated(await client.subscribe('quotes', 'AAPL'))
    assert.equal(await streams(), 1, 'one upstream connection carries them all')
    await one.close()
    assert.equal(await streams(), 1)
    await two.close()
    await until(async () => (await streams()) === 0, 'nothing is asked for any more, for nobody listens')
  })

  describe('options chains', () => {
    let expiration = ''
    let contracts: readonly Body[] = []
    before(async () => {
      const { items } = await stage.sandbox(viewer, '/expirations?underlying=SPY')
      expiration = items[1].expiration
      contracts = await chain()
      assert.ok(contracts.length >= 10)
    })
    const chain = async (): Promise<readonly Body[]> =>
      (await stage.sandbox(viewer, `/chain?underlying=SPY&expiration=${expiration}`)).items
    const symbolOf = ({ legs: [leg] }: Body): string => leg.sym
    /** Prices come for a minute, then stand still again. */
    const move = async (): Promise<void> => {
      await stage.pause(false)
      await stage.advance(60_000)
      await stage.pause()
    }
    /** The state of the chain as it has been sent. */
    const chainOf = (client: MarketClient, subId: string): ReadonlyMap<string, Body> =>
      new Map(client.messages(subId).map(message => [symbolOf(message), message]))

    test('every contract comes once at first, with greeks where they were asked for', async () => {
      await using client = await viewer.session()
      for (const greeks of [false, true]) {
        const earlier = await chain()
        const subId = await client.subscribe('options_chain', 'SPY', { expiration, greeks })
        const first = (await client.updated(subId, contracts.length)).slice(0, contracts.length)
        const later = await chain()
        assert.deepEqual(new Set(first.map(symbolOf)), new Set(contracts.map(({ s }) => s)), 'every contract, each once')
        for (const contract of contracts) {
          const found = chainOf(client, subId).get(contract.s)
          const [leg] = found.legs
          assert.equal(leg.expiration.slice(0, 10), expiration)
          assert.equal(leg.option_type, contract.right === 'call' ? 'Call' : 'Put')
          assert.equal(exact(leg.strike_price), exact(contract.strike))
          assert.equal(leg.asset_type, 'OPT')
          const figures: readonly (readonly [string, string])[] = [
            ...([
              ['bid', 'b'],
              ['bid_size', 'bz'],
              ['ask', 'a'],
              ['ask_size', 'az'],
              ['last', 'last'],
              ['open', 'o'],
              ['high', 'h']
            ] as const),
            ...([
              ['low', 'l'],
              ['previous_close', 'pc'],
              ['volume', 'v']
            ] as const)
          ]
          // They change each minute, also while prices stand still: those of the minute before or after the subscription are right.
          const around = [earlier, later].map(items => items.find(({ s: symbol }) => symbol === contract.s))
          for (const name of greeks ? GREEKS : [])
            assert.ok(
              around.some(at => isNear(Number(found[name]), Number(at?.[name]))),
              `${name} of ${contract.s}`
            )
          for (const [ours, theirs] of figures) assert.equal(found[ours], contract[theirs], `${ours} of ${contract.s}`)
          if (found.bid !== null && found.ask !== null) assert.equal(2n * exact(found.mid), exact(found.bid) + exact(found.ask), contract.s)
          if (found.last !== null && found.previous_close !== null && found.net_change !== null)
            assert.equal(exact(found.net_change), exact(found.last) - exact(found.previous_close), contract.s)
        }
        if (greeks) {
          const at = [...chainOf(client, subId).values()].filter(({ iv }) => iv !== null)
          assert.ok(at.length > contracts.length / 2, 'most contracts have a volatility')
          for (const { delta, gamma, vega, iv, side, legs } of at) {
            const sign = side === 'Call' ? 1 : -1
            const value = Number(delta) * sign
            assert.ok(value >= 0 && value <= 1 && Number(gamma) >= 0 && Number(vega) >= 0 && Number(iv) > 0, JSON.stringify(legs))
          }
        }
        await client.unsubscribe(subId)
      }
    })

    test('then what changes, and who joins late gets all of it at once', async () => {
      await using client = await viewer.session()
      const subId = await client.subscribe('options_chain', 'SPY', { expiration, greeks: true })
      await client.updated(subId, contracts.length)
      await move()
      await client.updated(subId, contracts.length + 5)
      const known = new Set(contracts.map(({ s }) => s))
      assert.ok(client.messages(subId).every(message => known.has(symbolOf(message))))
      await using other = await viewer.session()
      for (const session of [client, other]) {
        const late = await session.subscribe('options_chain', 'SPY', { expiration })
        await session.until(() => chainOf(session, late).size === contracts.length, 'the late joiner has every contract')
        await client.quiet()
        const bare = ({ sub_id, delta, gamma, theta, rho, vega, iv, ...rest }: Body): Body => rest
        for (const [symbol, message] of chainOf(session, late)) assert.deepEqual(bare(message), bare(chainOf(client, subId).get(symbol)))
        await session.unsubscribe(late)
      }
      await client.unsubscribe(subId)
      await move()
      await client.quiet()
    })

    test('two expirations are two chains', async () => {
      const { items } = await stage.sandbox(viewer, '/expirations?underlying=SPY')
      await using client = await viewer.session()
      for (const { expiration: day } of items.slice(0, 3)) {
        const subId = await client.subscribe('options_chain', 'SPY', { expiration: day })
        await client.updated(subId, 4)
        for (const { legs } of client.messages(subId)) assert.equal(legs[0].expiration.slice(0, 10), day)
      }
    })
  })
})
