import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Malformed } from '@trunkline/core/domain/malformed'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { soon } from '@trunkline/testkit/patience'
import fc from 'fast-check'
import { JSON_CODEC } from '../../src/alpaca/market/codec.ts'
import { dispatch, SinkTables } from '../../src/alpaca/market/items.ts'
import { Subscription } from '../../src/alpaca/market/subscription.ts'
import { MarketTalk } from '../../src/alpaca/market/talk.ts'
import { AlpacaStream } from '../../src/alpaca/session.ts'
import { oauthToken } from '../../src/kit/oauth.ts'
import { StreamFault } from '../../src/kit/stream-fault.ts'
import { TokenSource } from '../../src/kit/tokens.ts'
import { VirtualClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { ACCOUNT, fixture, fixtureNames, type Json, words } from './fixtures.ts'
import { Told } from './market/told.ts'
import { TOKEN } from './venue.ts'

/** Some fields anywhere in a message replaced by anything, some messages twice, some cut. */
function damaged(messages: readonly Json[]): fc.Arbitrary<string> {
  const paths = messages.flatMap((message, index) => pathsOf(message).map(path => ({ index, path })))
  const changed = fc.tuple(fc.constantFrom(...paths), fc.jsonValue()).map(([{ index, path }, value]) => {
    const copy = structuredClone(messages[index])
    const last = path.at(-1) ?? ''
    const place = path.slice(0, -1).reduce((at, key) => at[key], copy)
    place[last] = value
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

test('no messages make the account stream throw anything but Malformed, and nothing of another account is told', async () => {
  const clock = new VirtualClock()
  const { words: known, log } = words()
  const refresh = () => Promise.reject(new BrokerFault('credentials_rejected', 'nothing to renew'))
  await using tokens = new TokenSource({ holder: new MemoryHolder(TOKEN), clock, log, tokenOf: oauthToken, refresh })
  const never = () => Promise.reject(new BrokerFault('unreachable', 'nobody is there'))
  const reads = { account: async () => ACCOUNT, order: never, positions: never, balances: never }
  const options = { url: 'ws://127.0.0.1:1', pingMs: 1_000, tokens, hello: () => ({}), clock, log, words: known, reads }
  const messages = fixtureNames()
    .filter(name => name.startsWith('stream.'))
    .map(name => fixture(name).body)
  await fc.assert(
    fc.asyncProperty(fc.array(damaged(messages), { maxLength: 12 }), async frames => {
      const talk = await new AlpacaStream(options).begin(soon())
      for (const frame of frames)
        onlyKnown(() => {
          for (const heard of talk.hear(frame))
            if (heard.type === 'event' && heard.event.type === 'order') assert.equal(heard.event.report.brokerAccountId, ACCOUNT)
        })
      await talk.ended()
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
      const tables = new SinkTables()
      const owner = {
        opened: () => undefined,
        streamed: ({ topic, sink }: Subscription) => tables.add(topic.channel, topic.symbol, sink),
        refused: (subscription: Subscription) => {
          subscription.isAsked = false
        },
        items: (items: readonly unknown[]) => void dispatch(items, tables),
        notTaken: () => undefined
      }
      const talk = new MarketTalk({ url: 'ws://127.0.0.1:1', pingMs: 1_000, hello: {}, codec: JSON_CODEC }, owner)
      onlyKnown(() => talk.hear('[{"T":"success","msg":"authenticated"}]'))
      const asked = (['trades', 'quotes'] as const).map(channel => new Subscription({ channel, symbol: 'AAPL' }, new Told(), false))
      asked.push(new Subscription({ channel: 'depth', symbol: 'BTC/USD' }, new Told(), false))
      for (const each of asked) each.isAsked = true
      talk.ask(asked)
      for (const frame of frames) onlyKnown(() => talk.hear(frame))
    }),
    { numRuns: 1_000 }
  )
})
