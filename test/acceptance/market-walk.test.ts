// Long courses of requests by chance, over several sessions at once while the market moves: each answer is what a small model gives.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import type { Body } from './api.ts'
import type { MarketClient } from './market-client.ts'
import { MarketStage, type Viewer } from './market-stage.ts'

const SEEDS = [1, 2, 3, 4, 5, 6]
const STEPS = 150
const SYMBOLS = ['SPY', 'AAPL', 'BTC/USD', 'THIN', 'NOSUCH']

/** What a session is subscribed to, by the requests it made. */
class Expected {
  #count = 0
  readonly open = new Map<string, Body>()

  /** The answer's error code, or the fields that matter. */
  subscribe({ channel, symbol, interval, session, n_levels }: Body): Body {
    if (n_levels === 11) return { error_code: 'invalid_request' }
    if (interval === '0m') return { error_code: 'unsupported_interval' }
    if (symbol === 'NOSUCH') return { error_code: 'unsupported_symbol' }
    const sub_id = String(++this.#count)
    const hasSession = channel === 'bars' || channel === 'trades'
    const row = {
      channel,
      symbol,
      interval: channel === 'bars' ? interval : '',
      session: hasSession ? (session ?? 'BrokerDefault') : '',
      sub_id
    }
    this.open.set(sub_id, { broker: 'SANDBOX', ...row })
    return { sub_id, channel, symbol }
  }

  unsubscribe(sub_id: string): Body {
    return this.open.delete(sub_id) ? { sub_id } : { error_code: 'subscription_not_found' }
  }

  get anySubId(): number {
    return this.#count + 2
  }
}

describe('requests by chance', () => {
  let stage: MarketStage
  let viewer: Viewer
  before(async () => {
    stage = await MarketStage.open()
    viewer = await stage.viewer()
  })
  after(() => stage[Symbol.asyncDispose]())

  /** One session's course, one request after the other: what is sent at once is answered when each can be. */
  async function course(client: MarketClient, chance: SeededChance): Promise<void> {
    const expected = new Expected()
    for (let step = 0; step < STEPS; step += 1) {
      const [message, answer] = request(expected, chance)
      const found = await client.ask(message)
      const received = Object.fromEntries(Object.keys(answer).map(name => [name, found[name]]))
      assert.deepEqual(received, answer, `${JSON.stringify(message)} → ${JSON.stringify(found).slice(0, 500)}`)
      if (chance.happens(0.1)) await stage.advance(chance.whole(1, 5_000))
    }
    const moving = expected.open.values().find(({ symbol, channel }) => symbol !== 'THIN' && channel === 'quotes')
    if (moving !== undefined) await client.updated(moving.sub_id)
    await client.quiet()
  }

  function request(expected: Expected, chance: SeededChance): readonly [message: Body, answer: Body] {
    if (chance.happens(0.15)) return [{ action: 'list_subscriptions' }, { subscriptions: [...expected.open.values()] }]
    // Not many at once, so that every one of them can be followed.
    if (expected.open.size > 20 || chance.happens(0.35)) {
      const sub_id = chance.oneOf([...expected.open.keys(), String(chance.whole(1, expected.anySubId))]) ?? '1'
      return [{ action: 'unsubscribe', sub_id }, expected.unsubscribe(sub_id)]
    }
    const channel = chance.oneOf(['trades', 'quotes', 'depth', 'bars'])
    const message: Body = { action: 'subscribe', channel, symbol: chance.oneOf(SYMBOLS) }
    if (channel === 'bars') message.interval = chance.oneOf(['1m', '2m', '5m', '1h', '1d', ...(message.symbol === 'NOSUCH' ? [] : ['0m'])])
    if (channel === 'bars' && chance.happens(0.5)) message.backfill_nbars = chance.whole(0, 30)
    if (channel === 'depth' && chance.happens(0.5)) message.n_levels = chance.whole(1, 11)
    if (channel === 'trades' && chance.happens(0.3)) message.session = 'USEqCore'
    return [message, expected.subscribe(message)]
  }

  for (const seed of SEEDS) {
    test(`seed ${seed}: three sessions side by side`, async () => {
      await using resources = new AsyncDisposableStack()
      const clients = await Promise.all([0, 1, 2].map(() => viewer.session()))
      for (const client of clients) resources.use(client)
      await Promise.all(clients.map((client, index) => course(client, new SeededChance(1_000 * seed + index))))
    })
  }
})
