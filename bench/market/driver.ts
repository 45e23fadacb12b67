/** Both ends of the measurement in one process, with one clock: the front that sends trades, and the client that receives them. */

import { answering } from '../harness/workers.ts'
import type { RawSocket } from '../stream/client/raw-socket.ts'
import { MarketClient } from './client/session.ts'
import { snapshotTimes } from './client/snapshot.ts'
import type { Attendance, DriverRequests } from './driver-requests.ts'
import { Front } from './sandbox/front.ts'
import { MarketStreams } from './sandbox/streams.ts'
import { TradeFeed } from './sandbox/trade-feed.ts'
import { Trades } from './sandbox/trades.ts'

const OPENED_AT_ONCE = 20

const streams = new MarketStreams()
let front: Front | null = null
let attended: { readonly client: MarketClient; readonly feed: TradeFeed } | null = null
let listener: RawSocket | null = null
let idle: MarketClient[] = []

answering<DriverRequests>({
  async open() {
    front = await Front.open(streams)
    return { url: front.url }
  },
  lead({ port }) {
    opened().leadTo(port)
    return null
  },
  async attend(attendance) {
    attended?.client[Symbol.dispose]()
    listener?.[Symbol.dispose]()
    listener = null
    attended = await attend(attendance)
    return null
  },
  async listen() {
    listener = await attendedNow().feed.listenAt(`${opened().url.replace(/^http/, 'ws')}/market/v1`)
    return null
  },
  feed(plan) {
    const { client, feed } = attendedNow()
    return feed.run(plan, () => client.failure)
  },
  async idle({ url, token, sessions, subscriptions }) {
    for (let from = 0; from < sessions; from += OPENED_AT_ONCE) {
      const some = Array.from({ length: Math.min(OPENED_AT_ONCE, sessions - from) }, async () => {
        const client = await MarketClient.open(url, token, () => undefined)
        await client.subscribe(subscriptions)
        return client
      })
      idle.push(...(await Promise.all(some)))
    }
    return null
  },
  leave() {
    for (const client of idle) client[Symbol.dispose]()
    idle = []
    return null
  },
  snapshot: plan => snapshotTimes(plan, () => opened().takeBarsBeganAt())
})

async function attend({ url, token, reader, symbols }: Attendance): Promise<NonNullable<typeof attended>> {
  const trades = new Trades(symbols, Math.round((performance.timeOrigin + performance.now()) * 1_000))
  const feed = new TradeFeed(streams, reader, trades)
  const client = await MarketClient.open(url, token, (bytes, start, end) => feed.receive(bytes, start, end))
  const subIds =
    token === null ? symbols.map((_, index) => index + 1) : await client.subscribe(symbols.map(symbol => ({ channel: 'trades', symbol })))
  feed.expect(new Map(subIds.map((subId, index) => [subId, index])))
  return { client, feed }
}

function opened(): Front {
  if (front === null) throw new Error('the front is not open yet')
  return front
}

function attendedNow(): NonNullable<typeof attended> {
  if (attended === null) throw new Error('no stream is attended yet')
  return attended
}
