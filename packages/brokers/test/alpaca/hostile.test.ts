import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import fc from 'fast-check'
import { accountStream } from '../../src/alpaca/account-stream.ts'
import { dispatch, JSON_FRAMES, MarketProtocol } from '../../src/alpaca/market-stream.ts'
import { oauthToken } from '../../src/kit/oauth.ts'
import { AccountStream } from '../../src/kit/runtime/account-stream.ts'
import { FeedSubscription } from '../../src/kit/runtime/incremental-feed.ts'
import { OrderTracker } from '../../src/kit/runtime/order-tracker.ts'
import { TopicSinks } from '../../src/kit/runtime/topic-sinks.ts'
import { StreamFault } from '../../src/kit/stream-fault.ts'
import { TokenSource } from '../../src/kit/tokens.ts'
import { VirtualClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { RecordingSink } from '../support/recording-sink.ts'
import { ACCOUNT, fixture, fixtureNames, type Json, unknownValueCounter } from './fixtures.ts'
import { TOKEN } from './venue.ts'

/** Some fields anywhere in a message replaced by anything, some messages twice, some cut. */
function damaged(messages: readonly Json[]): fc.Arbitrary<string> {
  const paths = messages.flatMap((message, index) => pathsOf(message).map(path => ({ index, path })))
  const changed = fc.tuple(fc.constantFrom(...paths), fc.jsonValue()).map(([{ index, path }, value]) => {
    const copy = structuredClone(messages[index])
    const last = path.at(-1) ?? ''
    const parent = path.slice(0, -1).reduce((at, key) => at[key], copy)
    parent[last] = value
    return JSON.stringify(copy)
  })
  const whole = fc.constantFrom(...messages.map(message => JSON.stringify(message)))
  const cut = fc.tuple(whole, fc.nat()).map(([text, at]) => text.slice(0, at % text.length))
  return fc.oneof(changed, changed, whole, cut, fc.string())
}

function pathsOf(value: Json): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value).flatMap(key => [[key], ...pathsOf(value[key]).map(path => [key, ...path])])
}

function onlyKnown(read: () => unknown): void {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof Malformed || error instanceof StreamFault, String(error))
  }
}

test('no messages make the account stream throw anything but Malformed, and nothing of another account is published', async () => {
  const clock = new VirtualClock()
  const { unknownValues: known, log } = unknownValueCounter()
  const refresh = () => Promise.reject(new BrokerFault('credentials_rejected', 'nothing to renew'))
  await using tokens = new TokenSource({ holder: new MemoryHolder(TOKEN), clock, log, tokenOf: oauthToken, refresh })
  const never = () => Promise.reject(new BrokerFault('unreachable', 'no host is there'))
  const options = {
    ...{ url: 'ws://127.0.0.1:1', pingMs: 1_000, tokens, unknownValues: known, log },
    ...{ hello: () => ({ auth: {}, authenticate: {} }), account: async () => ACCOUNT, openOrders: never }
  }
  const login = { tracker: new OrderTracker(), unknownValues: known, clock, log, orders: { ordersOf: never } }
  const messages = fixtureNames()
    .filter(name => name.startsWith('stream.'))
    .map(name => fixture(name).body)
  await fc.assert(
    fc.asyncProperty(fc.array(damaged(messages), { maxLength: 12 }), async frames => {
      const protocol = await new AccountStream(accountStream(options), login, { positions: never, balances: never }).begin(soon())
      for (const frame of frames)
        onlyKnown(() => {
          for (const message of protocol.onFrame(frame))
            if (message.type === 'event' && message.event.type === 'order') assert.equal(message.event.report.brokerAccountId, ACCOUNT)
        })
      await protocol.ended?.()
    }),
    { numRuns: 500 }
  )
})

test('no messages make a market stream throw anything but Malformed or the end of the stream', () => {
  const messages = [
    fixture('market.stream').body,
    [{ T: 'success', msg: 'authenticated' }],
    [{ T: 'subscription', trades: ['AAPL'], quotes: ['AAPL'], orderbooks: ['BTC/USD'] }],
    [{ T: 'error', code: 405, msg: 'symbol limit exceeded' }]
  ]
  fc.assert(
    fc.property(fc.array(damaged(messages), { maxLength: 12 }), frames => {
      const tables = new TopicSinks()
      const owner = {
        opened: () => undefined,
        streamed: ({ topic, sink }: FeedSubscription) => tables.add(topic, sink),
        refused: (subscription: FeedSubscription) => {
          subscription.requestNumber = null
        },
        missed: () => undefined,
        items: (items: readonly unknown[]) => void dispatch(items, tables)
      }
      const options = { url: 'ws://127.0.0.1:1', pingMs: 1_000, hello: {}, frames: JSON_FRAMES }
      const protocol = new MarketProtocol(options, owner, () => undefined)
      onlyKnown(() => protocol.onFrame('[{"T":"success","msg":"authenticated"}]'))
      const requested = (['trades', 'quotes'] as const).map(
        channel => new FeedSubscription({ channel, symbol: 'AAPL' }, new RecordingSink(), false)
      )
      requested.push(new FeedSubscription({ channel: 'depth', symbol: 'BTC/USD' }, new RecordingSink(), false))
      protocol.subscribe(requested)
      for (const frame of frames) onlyKnown(() => protocol.onFrame(frame))
    }),
    { numRuns: 1_000 }
  )
})
