// Both halves of the client against a running service, over connections that break all the time.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SeededChance } from '@trunkline/testkit/chance'
import { Trunkline } from '../../src/index.ts'
import type { SocketLike } from '../../src/streams/connection.ts'
import {
  BrokerStream,
  type CopyChange,
  eventsOf,
  LiveCopy,
  type MarketStatus,
  MarketStream,
  recordsOf,
  type StoredCopy
} from '../../src/streams/index.ts'
import { openScene, type Scene } from '../lost-answers/load.ts'

const ORDERS = 40
const TERMS = { broker: 'SANDBOX', side: 'BUY', order_tif: 'DAY', symbol: 'AAPL', order_type: 'MKT', order_qty: '1' } as const

/** WebSockets that break after a few messages, and lose what was on its way. */
function breaking(chance: SeededChance): new (url: string) => SocketLike {
  return class implements SocketLike {
    readonly #socket: WebSocket
    #left = 4 + Math.floor(chance.fraction() * 12)

    constructor(url: string) {
      this.#socket = new WebSocket(url)
    }

    send(text: string): void {
      this.#socket.send(text)
    }

    close(): void {
      this.#socket.close()
    }

    addEventListener(type: string, listener: (event: never) => void): void {
      this.#socket.addEventListener(type, event => {
        if (type === 'message') this.#left -= 1
        if (this.#left > 0 || type !== 'message') listener(event as never)
        else this.#socket.close()
      })
    }
  }
}

describe('the streams of the client', () => {
  let scene: Scene
  const seed = Math.floor(Math.random() * 2 ** 32)
  before(async () => {
    scene = await openScene('embedded')
  })
  after(() => scene[Symbol.asyncDispose]())

  async function stage() {
    const { client_id: clientId, client_secret: clientSecret, stream_url: url } = scene.service.demo
    const known = await scene.user()
    const trunkline = new Trunkline({ baseUrl: scene.service.url, clientId, clientSecret })
    const user = trunkline.user({ userId: known.userId, userSecret: String(known.headers()['user-secret']) })
    const chance = new SeededChance(seed)
    const broken = { url, clientId, clientSecret, socket: breaking(chance), random: () => chance.fraction() / 200 }
    const stream = new BrokerStream({ ...broken, waitingMax: 5, readEvents: eventsOf(trunkline) })
    return { known, trunkline, user, stream, records: recordsOf(trunkline, known.userId, user) }
  }

  test(`a copy over breaking connections has every update once, and equals REST (seed ${seed})`, async () => {
    const { known, user, stream, records } = await stage()
    const over = new AbortController()
    const changes: CopyChange[] = []
    const copy = new LiveCopy({ stream, userId: known.userId, ...records, save: async change => void changes.push(change) })
    const running = (async () => {
      for await (const _ of copy.run(over.signal));
    })()
    await copy.live()
    for (let index = 0; index < ORDERS; index += 1) await user.orders.place({ ...TERMS, account_id: known.accountId })
    const verified = await copy.verify(AbortSignal.timeout(60_000))
    over.abort()
    await running
    assert.equal(verified.isEqual, true)
    const seqs = changes.map(({ seq }) => seq)
    const [first = 0] = seqs
    assert.deepEqual(
      seqs,
      Array.from({ length: seqs.length }, (_, at) => first + at)
    )
    assert.ok([...copy.orders.values()].filter(order => order.normalized_status === 'filled').length >= ORDERS)
  })

  test('a copy that was stored goes on from there after an absence', async () => {
    const { known, user, stream, records } = await stage()
    await user.orders.place({ ...TERMS, account_id: known.accountId })
    const stored: StoredCopy = {
      seq: await records.readLastSeq(AbortSignal.timeout(10_000)),
      ...(await records.readSnapshot(AbortSignal.timeout(10_000)))
    }
    await user.orders.place({ ...TERMS, account_id: known.accountId })
    const over = new AbortController()
    const copy = new LiveCopy({ stream, userId: known.userId, ...records, load: async () => stored })
    const types: string[] = []
    const running = (async () => {
      for await (const { type } of copy.run(over.signal)) types.push(type)
    })()
    await copy.live()
    assert.equal((await copy.verify(AbortSignal.timeout(60_000))).isEqual, true)
    over.abort()
    await running
    assert.ok(!types.includes('begin') && types.includes('orders'))
  })

  test('a user that does not exist is named at the first refusal', async () => {
    const { stream } = await stage()
    const types: string[] = []
    const following = async () => {
      for await (const { type } of stream.follow('nobody-of-this-name')) types.push(type)
    }
    await assert.rejects(following, { code: 'user_not_found' })
    assert.ok(types.every(type => type === 'interrupted'))
  })

  test('market data goes on over breaking connections', async () => {
    const { user } = await stage()
    const [connection] = await user.connections.list()
    const chance = new SeededChance(seed)
    const market = new MarketStream({
      url: scene.service.demo.market_data_stream_url,
      token: async () => (await user.connections.marketDataToken({ connection_id: connection?.connection_id ?? '' })).access_token,
      socket: breaking(chance),
      random: () => chance.fraction() / 200
    })
    let interruptions = 0
    const onStatus = ({ isLive }: MarketStatus): void => {
      if (!isLive) interruptions += 1
    }
    const starts: bigint[] = []
    const bars = market.bars({
      symbol: 'SPY',
      interval: '1m',
      backfill: 30,
      onStatus
    })
    for await (const bar of bars) {
      if (bar.st === 'c') starts.push(BigInt(bar.ts))
      if (bar.st === 'o') break
    }
    assert.equal(starts.length, 30)
    assert.deepEqual(
      starts,
      [...new Set(starts)].sort((a, b) => (a < b ? -1 : 1))
    )
    assert.ok(interruptions > 0)
  })

  test('market data goes on with a new token when the secret of the user was replaced', async () => {
    const { known, trunkline, user } = await stage()
    const [connection] = await user.connections.list()
    let replaced: Promise<typeof user> | undefined
    let tokens = 0
    const token = async () => {
      tokens += 1
      const { connections } = (await replaced) ?? user
      return (await connections.marketDataToken({ connection_id: connection?.connection_id ?? '' })).access_token
    }
    const market = new MarketStream({ url: scene.service.demo.market_data_stream_url, token, random: () => 0 })
    for await (const _ of market.quotes({ symbol: 'SPY' })) {
      if (tokens === 2) break
      // Not awaited: the session may end before the answer is here.
      replaced ??= trunkline.users
        .rotateSecret({ user_id: known.userId })
        .then(({ 'user-secret': userSecret }) => trunkline.user({ userId: known.userId, userSecret }))
    }
    assert.equal(tokens, 2)
  })
})
