// The market data stream's messages: coming in, subscribing to each channel, listing, ending, asking for the past, and what is refused.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Body } from './api.ts'
import { MarketClient } from './market-client.ts'
import { CHANNELS, type Channel } from './market-forms.ts'
import { MarketStage, type Viewer } from './market-stage.ts'
import { refusalOf } from './stream-client.ts'

const REQUEST_ID_MAX = 128
const SESSIONS = ['BrokerDefault', 'USEqCore', 'USEqPreMkt', 'USEqPostMkt', 'USEqPreAndPostMkt'] as const

describe('the market data stream', () => {
  let stage: MarketStage
  let viewer: Viewer
  let expiration = ''
  before(async () => {
    stage = await MarketStage.open()
    viewer = await stage.viewer()
    const { items } = await stage.sandbox(viewer, '/expirations?underlying=SPY')
    expiration = items[1].expiration
  })
  after(() => stage[Symbol.asyncDispose]())

  /** What each channel cannot do without. */
  const least = (channel: Channel): Body => (channel === 'bars' ? { interval: '1m' } : channel === 'options_chain' ? { expiration } : {})
  const refused = async (client: MarketClient, message: Body, ...codes: readonly string[]): Promise<Body> => {
    const reply = await client.ask(message)
    assert.equal(reply.type, 'error', `${JSON.stringify(message).slice(0, 300)} → ${JSON.stringify(reply).slice(0, 300)}`)
    assert.ok(codes.includes(reply.error_code), `${JSON.stringify(message).slice(0, 300)} → ${JSON.stringify(reply)}, not ${codes}`)
    return reply
  }

  describe('coming in', () => {
    test('a plain request gets 426; both paths lead in, others do not', async () => {
      for (const path of ['/market-data/stream', '/v1/market-data/stream']) {
        const plain = await fetch(stage.service.url + path)
        assert.equal(plain.status, 426, path)
      }
      assert.equal((await refusalOf(`${stage.service.url}/market-data/streams`)).status, 404)
      await using versioned = await MarketClient.connect(stage.url.replace('/market-data', '/v1/market-data'), { address: stage.address() })
      await versioned.authenticate(await viewer.token())
      await versioned.quiet()
    })

    test('nothing is sent before the client has sent anything; a token lets in, and the version is echoed', async () => {
      const token = await viewer.token()
      const address = stage.address()
      const ids = new Set<string>()
      for (const more of [{}, { version: 'v1.0' }]) {
        await using client = await stage.knock({ address })
        const reply = await client.authenticate(token, more)
        assert.equal(client.received, 1, 'the answer is the first that is sent')
        ids.add(reply.session_id)
        await client.quiet()
      }
      assert.equal(ids.size, 2, 'each session has an id of its own')
    })

    test('what does not let in is answered with auth_error and may be tried again; the fifth failure ends the session', async () => {
      const token = await viewer.token()
      const address = stage.address()
      const wrong = [`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`, 'mdt_nothing', '', `${token} `]
      const messages = new Set<string>()
      {
        await using client = await stage.knock({ address })
        for (const access_token of wrong) {
          const reply = await refused(client, { action: 'authenticate', access_token }, 'auth_error')
          assert.ok(!reply.message.includes(token.slice(5)), 'a token is not repeated')
          messages.add(reply.message)
        }
        await client.authenticate(token)
        await client.quiet()
      }
      assert.ok(messages.size <= 2, 'nothing reveals what is wrong with a token')
      await using client = await stage.knock({ address: stage.address() })
      for (let count = 0; count < 5; count++) await refused(client, { action: 'authenticate', access_token: 'mdt_nothing' }, 'auth_error')
      assert.equal((await client.ended()).code, 4029)
    })

    test('an authentication that is not of its form lets nobody in', async () => {
      const access_token = await viewer.token()
      const malformed: readonly Body[] = [
        {},
        { access_token: null },
        { access_token: 5 },
        { access_token: [access_token] },
        { access_token, version: 'v1.1' },
        { access_token, version: 'V1.0' },
        { access_token, version: '1.0' },
        { access_token, version: '' },
        { access_token, version: 1 }
      ]
      for (const part of [malformed.slice(0, 4), malformed.slice(4, 8), malformed.slice(8)]) {
        await using client = await stage.knock({ address: stage.address() })
        for (const message of part) await refused(client, { action: 'authenticate', ...message }, 'auth_error', 'invalid_request')
        await refused(client, { action: 'list_subscriptions' }, 'not_authenticated')
        await client.authenticate(access_token)
      }
    })

    test('before authentication everything else is refused and has no effect', async () => {
      await using client = await stage.knock({ address: stage.address() })
      const messages: readonly Body[] = [
        { action: 'subscribe', channel: 'quotes', symbol: 'AAPL' },
        { action: 'subscribe', channel: 'nothing', symbol: 5 },
        { action: 'list_subscriptions' },
        { action: 'unsubscribe', sub_id: '1' },
        {
          ...{ action: 'snapshot', symbol: 'AAPL', data_type: 'bars', interval: '1m' },
          ...{ start_time: '2026-01-05T15:00:00Z', end_time: '2026-01-05T16:00:00Z' }
        },
        { action: 'ping' }
      ]
      for (const message of messages) await refused(client, message, 'not_authenticated')
      await client.authenticate(await viewer.token())
      assert.deepEqual(await client.list(), [])
      assert.equal(await client.subscribe('quotes', 'AAPL'), '1')
    })

    test('a second authentication is answered with auth_error and changes nothing, however often [S48]', async () => {
      const token = await viewer.token()
      await using client = await stage.knock({ address: stage.address() })
      await client.authenticate(token)
      const subId = await client.subscribe('quotes', 'AAPL')
      for (const access_token of [token, 'mdt_nothing', token, 'mdt_nothing', token, 'mdt_nothing'])
        await refused(client, { action: 'authenticate', access_token }, 'auth_error')
      assert.deepEqual(
        (await client.list()).map(({ sub_id }) => sub_id),
        [subId]
      )
      const count = client.updates(subId).length
      await client.updated(subId, count + 1)
    })
  })

  describe('request ids', () => {
    test('any text of 1 to 128 characters is echoed', async () => {
      await using client = await viewer.session()
      for (const request_id of ['1', 'x'.repeat(REQUEST_ID_MAX), 'ähnlich ☃ "quoted" \\ 👍', '__proto__', 'constructor', ' ']) {
        const reply = await client.ask({ action: 'list_subscriptions', request_id })
        assert.deepEqual([reply.type, reply.request_id], ['subscriptions_list', request_id])
      }
    })

    test('without a request id nothing is done', async () => {
      await using client = await viewer.session()
      for (const request_id of [undefined, null, '', 5, 0, true, {}, ['1'], 'x'.repeat(REQUEST_ID_MAX + 1)]) {
        client.send({ action: 'subscribe', channel: 'quotes', symbol: 'AAPL', request_id })
        const notice = await client.notice()
        assert.deepEqual(
          [notice.type, notice.error_code, notice.request_id],
          ['error', 'invalid_request', null],
          JSON.stringify(request_id)
        )
      }
      assert.deepEqual(await client.list(), [])
      await using unauthenticated = await stage.knock({ address: stage.address() })
      unauthenticated.send({ action: 'authenticate', access_token: await viewer.token() })
      assert.equal((await unauthenticated.notice()).error_code, 'invalid_request')
      await refused(unauthenticated, { action: 'list_subscriptions' }, 'not_authenticated')
    })

    test('answers come in the order of the requests, and a request id may be used again', async () => {
      await using client = await viewer.session()
      const ids = Array.from({ length: 60 }, (_, index) => `ordered-${index}`)
      for (const request_id of ids) client.begin({ action: 'subscribe', channel: 'quotes', symbol: 'AAPL', request_id })
      for (const [index, id] of ids.entries()) assert.equal((await client.answer(id)).sub_id, String(index + 1))
      for (let again = 0; again < 3; again++) assert.equal((await client.list()).length, ids.length)
      const twice = { action: 'list_subscriptions', request_id: 'twice' }
      assert.equal((await client.ask(twice)).request_id, 'twice')
      assert.equal((await client.ask(twice)).request_id, 'twice')
    })
  })

  describe('subscriptions', () => {
    const echoes: readonly (readonly [Channel, string, Body, Body])[] = [
      ['bars', 'AAPL', { interval: '1m' }, { interval: '1m', session: 'BrokerDefault' }],
      ['bars', 'AAPL', { interval: '240m', session: 'USEqCore' }, { interval: '240m', session: 'USEqCore' }],
      ['bars', 'AAPL', { interval: '4h' }, { interval: '4h', session: 'BrokerDefault' }],
      ['bars', 'BTC/USD', { interval: '1d' }, { interval: '1d', session: 'BrokerDefault' }],
      ...SESSIONS.map(session => ['trades', 'AAPL', { session }, { session }] as const),
      ['trades', 'AAPL', {}, { session: 'BrokerDefault' }],
      ['trades', 'BTC/USD', {}, { session: 'BrokerDefault' }],
      ['quotes', 'AAPL', {}, {}],
      ['quotes', 'BTC/USD', {}, {}],
      ['depth', 'AAPL', {}, {}],
      ['depth', 'AAPL', { n_levels: 10 }, {}],
      // What a channel does not take is ignored, whatever it is.
      ['quotes', 'AAPL', { interval: 'nonsense', session: 5, n_levels: 99, greeks: 'yes', backfill_nbars: -1, expiration: 7 }, {}],
      ['trades', 'BTC/USD', { interval: null, n_levels: 0 }, { session: 'BrokerDefault' }]
    ]

    test('each channel is answered with exactly what was asked for and its defaults, and is listed so', async () => {
      await using client = await viewer.session()
      const chains: typeof echoes = [
        ['options_chain', 'SPY', { expiration }, {}],
        ['options_chain', 'SPY', { expiration, greeks: true }, {}]
      ]
      const all = [...echoes, ...chains]
      for (const [index, [channel, symbol, more, echo]] of all.entries()) {
        const { message, request_id, ...reply } = await client.ask({ action: 'subscribe', channel, symbol, ...more })
        const sub_id = String(index + 1)
        assert.deepEqual(reply, { type: 'subscription_success', broker: 'SANDBOX', channel, symbol, ...echo, sub_id }, JSON.stringify(more))
      }
      const listed = all.map(([channel, symbol, , echo], index) => ({
        ...{ broker: 'SANDBOX', channel, symbol },
        ...{ interval: echo.interval ?? '', session: echo.session ?? '', sub_id: String(index + 1) }
      }))
      assert.deepEqual(await client.list(), listed)
      for (const [index, [channel, symbol, , echo]] of all.entries()) {
        const sub_id = String(index + 1)
        const { message, request_id, ...reply } = await client.unsubscribe(sub_id)
        const { interval, session, ...rest } = reply
        assert.deepEqual(rest, { type: 'unsubscription_success', broker: 'SANDBOX', channel, symbol, sub_id })
        assert.deepEqual([interval, session], [echo.interval ?? '', echo.session ?? ''])
        assert.deepEqual(await client.list(), listed.slice(index + 1))
      }
      await client.quiet()
    })

    test('every channel brings updates of its own form, with their sub_id', async () => {
      await using client = await viewer.session()
      const ids = new Map<Channel, string>()
      for (const channel of CHANNELS) ids.set(channel, await client.subscribe(channel, 'SPY', least(channel)))
      const greeks = await client.subscribe('options_chain', 'SPY', { expiration, greeks: true })
      for (const id of [...ids.values(), greeks]) await client.updated(id, 2)
      for (const [channel, symbol] of [
        ['quotes', 'BTC/USD'],
        ['trades', 'BTC/USD'],
        ['depth', 'BTC/USD']
      ] as const)
        await client.updated(await client.subscribe(channel, symbol), 2)
    })

    test('options and futures are symbols as well', async () => {
      const { items: chain } = await stage.sandbox(viewer, `/chain?underlying=SPY&expiration=${expiration}`)
      const { items: futures } = await stage.sandbox(viewer, '/instruments?class=future')
      await using client = await viewer.session()
      for (const symbol of [chain[Math.floor(chain.length / 2)].s, futures[0].symbol]) {
        await client.updated(await client.subscribe('quotes', symbol), 1)
        await client.updated(await client.subscribe('depth', symbol), 1)
        await client.subscribe('trades', symbol)
        await client.subscribe('bars', symbol, { interval: '1m' })
      }
    })

    test('ids count up over the whole session: what failed takes none, what ended gives none back', async () => {
      await using client = await viewer.session()
      assert.equal(await client.subscribe('quotes', 'AAPL'), '1')
      await refused(client, { action: 'subscribe', channel: 'quotes', symbol: 'NOSUCH' }, 'unsupported_symbol')
      assert.equal(await client.subscribe('quotes', 'AAPL'), '2', 'the same once more is a subscription of its own')
      await client.updated('1')
      await client.updated('2')
      await client.unsubscribe('2')
      assert.equal(await client.subscribe('quotes', 'AAPL'), '3')
      await client.unsubscribe('1')
      await refused(client, { action: 'unsubscribe', sub_id: '1' }, 'subscription_not_found')
      await refused(client, { action: 'unsubscribe', sub_id: '2' }, 'subscription_not_found')
      const count = client.updates('3').length
      await client.updated('3', count + 2)
      await using other = await viewer.session()
      assert.deepEqual(await other.list(), [])
      await refused(other, { action: 'unsubscribe', sub_id: '3' }, 'subscription_not_found')
      assert.equal(await other.subscribe('quotes', 'AAPL'), '1', 'every session counts for itself')
    })

    test('requests that are sent at once are answered when each can be, and subscriptions are counted in the order of their answers', async () => {
      await using client = await viewer.session()
      const answers: string[] = []
      client.onMessage = ({ type, sub_id }) => {
        if (type === 'subscription_success') answers.push(sub_id)
      }
      const ask = (message: Body): string => {
        const request_id = client.name()
        client.begin({ request_id, ...message })
        return request_id
      }
      const bars = ask({ action: 'subscribe', channel: 'bars', symbol: 'MSFT', interval: '1m', backfill_nbars: 30 })
      const quotes = ask({ action: 'subscribe', channel: 'quotes', symbol: 'MSFT' })
      const missing = ask({ action: 'unsubscribe', sub_id: '9' })
      assert.equal((await client.answer(missing)).error_code, 'subscription_not_found')
      const [{ sub_id: ended }, { sub_id: kept }] = [await client.answer(bars), await client.answer(quotes)]
      assert.deepEqual(answers, ['1', '2'])
      assert.deepEqual([ended, kept].toSorted(), ['1', '2'])
      assert.equal((await client.ask({ action: 'unsubscribe', sub_id: ended })).type, 'unsubscription_success')
      assert.equal((await client.ask({ action: 'unsubscribe', sub_id: ended })).error_code, 'subscription_not_found')
      assert.deepEqual(
        (await client.ask({ action: 'list_subscriptions' })).subscriptions.map(({ sub_id }: Body) => sub_id),
        [kept]
      )
      await client.updated(kept)
    })

    const wrong: readonly (readonly [code: string, message: Body])[] = [
      ...[undefined, null, 5, ['bars'], {}].map(channel => ['invalid_request', { channel, symbol: 'AAPL' }] as const),
      ...['news', 'Bars', 'bars ', 'constructor', '__proto__'].map(
        channel => ['unsupported_channel', { channel, symbol: 'AAPL', interval: '1m' }] as const
      ),
      ...[undefined, null, 5, ['AAPL'], {}].map(symbol => ['invalid_request', { channel: 'quotes', symbol }] as const),
      ...['NOSUCH', 'aapl', 'AAPL ', 'BTC/EUR', 'BTCUSD', 'ESZ99', 'AAPL261218C00200001', 'A'.repeat(41), 'AA\u0000PL', '🐮'].map(
        symbol => ['unsupported_symbol', { channel: 'quotes', symbol }] as const
      ),
      ...[undefined, null, 5, ['1m'], {}].map(interval => ['invalid_request', { channel: 'bars', symbol: 'AAPL', interval }] as const),
      ...['core', 'useqcore', 'USEqcore', 'constructor'].map(
        session => ['unsupported_session', { channel: 'trades', symbol: 'AAPL', session }] as const
      ),
      ...[5, {}, ['USEqCore'], true].map(session => ['invalid_request', { channel: 'trades', symbol: 'AAPL', session }] as const),
      ...[0, 11, -1, 1.5, '5', 1e300, {}, true].map(
        n_levels => ['invalid_request', { channel: 'depth', symbol: 'AAPL', n_levels }] as const
      ),
      ...[-1, 1.5, '5', 1e300, Number.MAX_SAFE_INTEGER, {}, true].map(
        backfill_nbars => ['invalid_request', { channel: 'bars', symbol: 'AAPL', interval: '1m', backfill_nbars }] as const
      )
    ]
    const wrongChains: readonly (readonly [code: string, message: Body])[] = [
      ...['true', 1, {}, []].map(greeks => ['invalid_request', { greeks }] as const),
      ...[undefined, null, 5, '', '18.12.2026', '2026-13-01', '2026-02-30', '2026-12-18T00:00:00Z', '26-12-18', {}].map(
        day => ['invalid_request', { expiration: day }] as const
      ),
      ...['1999-12-17', '2099-12-18'].map(day => ['unsupported_symbol', { expiration: day }] as const),
      ['unsupported_symbol', { symbol: 'NOSUCH' }],
      ['unsupported_symbol', { symbol: 'BTC/USD' }]
    ]

    test('what cannot be subscribed to is refused with its code and changes nothing', async () => {
      await using client = await viewer.session()
      const kept = await client.subscribe('quotes', 'AAPL')
      for (const [code, message] of wrong) await refused(client, { action: 'subscribe', ...message }, code)
      const chain = { action: 'subscribe', channel: 'options_chain', symbol: 'SPY', expiration }
      for (const [code, change] of wrongChains) await refused(client, { ...chain, ...change }, code)
      assert.deepEqual(
        (await client.list()).map(({ sub_id }) => sub_id),
        [kept]
      )
      assert.equal(await client.subscribe('quotes', 'AAPL'), '2')
    })

    test('an unknown action and an unsubscription that is not of its form are refused', async () => {
      await using client = await viewer.session()
      for (const action of ['fly', 'Subscribe', '', 'constructor', '__proto__', 'ping']) await refused(client, { action }, 'unknown_action')
      for (const action of [undefined, null, 5, {}]) await refused(client, { action }, 'unknown_action', 'invalid_request')
      for (const sub_id of [undefined, null, 1, ['1'], {}]) await refused(client, { action: 'unsubscribe', sub_id }, 'invalid_request')
      for (const sub_id of ['0', '7', '-1', '01', 'x', '', '1e0'])
        await refused(client, { action: 'unsubscribe', sub_id }, 'subscription_not_found', 'invalid_request')
    })
  })

  describe('snapshots', () => {
    const asked = { action: 'snapshot', symbol: 'AAPL', data_type: 'bars', interval: '1m' }
    const window = { start_time: '2026-01-05T15:00:00Z', end_time: '2026-01-05T16:00:00Z' }

    test('the answer echoes the question', async () => {
      await using client = await viewer.session()
      for (const symbol of ['AAPL', 'BTC/USD']) {
        const { data, request_id, start_time, end_time, ...reply } = await client.ask({ ...asked, ...window, symbol })
        assert.deepEqual(reply, { type: 'snapshot_response', symbol, data_type: 'bars', interval: '1m' })
        assert.deepEqual([start_time, end_time].map(Date.parse), [window.start_time, window.end_time].map(Date.parse))
        assert.equal(data.length, 60)
        assert.ok(data.every((bar: Body) => bar.sym === symbol && bar.st === 'c'))
      }
      assert.deepEqual(await client.list(), [], 'a snapshot is no subscription')
    })

    test('what cannot be answered is refused with its code', async () => {
      await using client = await viewer.session()
      const wrong: readonly (readonly [code: string, change: Body])[] = [
        ...['symbol', 'start_time', 'end_time', 'data_type', 'interval'].flatMap(field =>
          [undefined, null, 5, {}].map(value => ['invalid_request', { [field]: value }] as const)
        ),
        ...['trades', 'Bars', ''].map(data_type => ['invalid_request', { data_type }] as const),
        ...['yesterday', '', '2026-01-05', '2026-13-05T15:00:00Z', '2026-01-05 15:00:00', '1767625200'].flatMap(time => [
          ['invalid_request', { start_time: time }] as const,
          ['invalid_request', { end_time: time }] as const
        ]),
        ['invalid_request', { end_time: window.start_time }],
        ['invalid_request', { start_time: window.end_time, end_time: window.start_time }],
        ['invalid_request', { start_time: '1926-01-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' }],
        ...['NOSUCH', 'aapl'].map(symbol => ['unsupported_symbol', { symbol }] as const),
        ...['1s', '0m', '1'].map(interval => ['unsupported_interval', { interval }] as const)
      ]
      for (const [code, change] of wrong) await refused(client, { ...asked, ...window, ...change }, code)
      await client.quiet()
    })
  })
})
