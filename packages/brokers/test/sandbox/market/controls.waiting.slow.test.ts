/** Negative controls: markets that are wrong in a known way, each of which the market contract must catch. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Bar } from '@trunkline/core/domain/market/records'
import type { MarketSource, Topic, TopicLease, TopicSink } from '@trunkline/core/ports/market'
import { MARKET_CONTRACT_CASES, type MarketHarness } from '@trunkline/testkit/market-contract/index'
import { startMarketSandbox } from '../../support/dialect-market.ts'
import { openMarket } from './harness.ts'

const sandbox = startMarketSandbox()
after(async () => await (await sandbox)[Symbol.asyncDispose]())

const PATIENCE_MS = 3_000

interface Wrong {
  readonly what: string
  /** Cases that must fail. */
  readonly caught: readonly string[]
  readonly spoil: (right: MarketSource) => Partial<MarketSource>
}

/** A market whose sinks are wrapped. */
function through(right: MarketSource, spoilt: (sink: TopicSink, topic: Topic) => Partial<TopicSink>, onDispose = true) {
  return {
    stream(topic: Topic, sink: TopicSink): TopicLease {
      const spoiledSink: TopicSink = {
        live: () => sink.live(),
        lost: (cause, reason) => sink.lost(cause, reason),
        refused: message => sink.refused(message),
        trade: trade => sink.trade(trade),
        quote: quote => sink.quote(quote),
        depth: depth => sink.depth(depth),
        bar: bar => sink.bar(bar),
        chain: entry => sink.chain(entry),
        ...spoilt(sink, topic)
      }
      const lease = right.stream(topic, spoiledSink)
      return { renew: () => lease.renew(), [Symbol.dispose]: () => (onDispose ? lease[Symbol.dispose]() : undefined) }
    }
  }
}

async function* changed(pages: AsyncIterable<readonly Bar[]>, change: (page: readonly Bar[], index: number) => readonly Bar[]) {
  let index = 0
  for await (const page of pages) {
    yield change(page, index)
    index += 1
  }
}

const WRONGS: readonly Wrong[] = [
  {
    what: 'publishes trades twice',
    caught: ['M60'],
    spoil: right =>
      through(right, sink => ({
        trade: trade => {
          sink.trade(trade)
          sink.trade(trade)
        }
      }))
  },
  {
    what: 'loses a trade now and then',
    caught: ['M60'],
    spoil: right => {
      let count = 0
      return through(right, sink => ({
        trade: trade => {
          count += 1
          if (count % 10 !== 0) sink.trade(trade)
        }
      }))
    }
  },
  {
    what: 'does not publish losses',
    caught: ['M70', 'M72', 'M74', 'M76', 'M80', 'M90'],
    spoil: right => through(right, () => ({ lost: () => undefined }))
  },
  {
    what: 'never publishes live again',
    caught: ['M70', 'M72', 'M80'],
    spoil: right =>
      through(right, sink => {
        let isFirst = true
        return {
          live: () => {
            if (isFirst) sink.live()
            isFirst = false
          }
        }
      })
  },
  {
    what: 'keeps the present to itself',
    caught: ['M50'],
    spoil: right => through(right, () => ({ quote: () => undefined }))
  },
  {
    what: 'waits for symbols that do not exist',
    caught: ['M54'],
    spoil: right => through(right, () => ({ refused: () => undefined }))
  },
  {
    what: 'closes bars twice',
    caught: ['M62'],
    spoil: right =>
      through(right, sink => ({
        bar: bar => {
          sink.bar(bar)
          if (bar.closed) sink.bar(bar)
        }
      }))
  },
  {
    what: 'goes on after a topic was let go',
    caught: ['M82'],
    spoil: right => through(right, () => ({}), false)
  },
  {
    what: 'leaves out the second page of bars',
    caught: ['M20'],
    spoil: right => ({ bars: (request, signal) => changed(right.bars(request, signal), (page, index) => (index === 1 ? [] : page)) })
  },
  {
    what: 'takes the end of a window for part of it',
    caught: ['M20', 'M22'],
    spoil: right => ({ bars: (request, signal) => right.bars({ ...request, toMs: request.toMs + 60_000 }, signal) })
  },
  {
    what: 'has no bars for a symbol it does not know, instead of refusing',
    caught: ['M26'],
    spoil: right => ({
      bars: async function* (request, signal) {
        const pages = right.bars(request, signal)
        yield* await Array.fromAsync(pages).catch(() => [])
      }
    })
  },
  {
    what: 'gives a part of a chain for the whole',
    caught: ['M32'],
    spoil: right => ({ chain: async (...given) => (await right.chain(...given)).slice(1) })
  },
  {
    what: 'finds everything for whatever is searched',
    caught: ['M34'],
    spoil: right => ({ search: (_, signal) => right.search('USD', signal) })
  },
  {
    what: 'goes by the clock on the wall',
    caught: ['M12'],
    spoil: () => ({ presentMs: () => Date.now() })
  }
]

function spoilt(harness: MarketHarness, { spoil }: Wrong): MarketHarness {
  const right = harness.market
  const wrong = spoil(right)
  return {
    ...harness,
    patienceMs: PATIENCE_MS,
    market: {
      presentMs: wrong.presentMs ?? (() => right.presentMs()),
      instrument: wrong.instrument ?? ((...given) => right.instrument(...given)),
      bars: wrong.bars ?? ((...given) => right.bars(...given)),
      expirations: wrong.expirations ?? ((...given) => right.expirations(...given)),
      search: wrong.search ?? ((...given) => right.search(...given)),
      chain: wrong.chain ?? ((...given) => right.chain(...given)),
      stream: wrong.stream ?? ((...given) => right.stream(...given))
    },
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose]()
  }
}

for (const wrong of WRONGS)
  test(`a market that ${wrong.what} does not pass`, async () => {
    for (const id of wrong.caught) {
      const contractCase = MARKET_CONTRACT_CASES.find(each => each.id === id)
      assert.ok(contractCase !== undefined, id)
      await using harness = await openMarket(await sandbox)
      await assert.rejects(contractCase.run(spoilt(harness, wrong)), `${id} does not notice it`)
    }
  })
