// Malformed and hostile frames, as a table: each is answered as decided, changes nothing, and is not felt by the session beside.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Body } from './api.ts'
import { CANARY, fatal, frames, ID } from './market-bad-input-cases.ts'
import type { MarketClient } from './market-client.ts'
import { MarketStage, type Viewer } from './market-stage.ts'

const BURST = 1_000
const SUBSCRIPTIONS_MAX = 500

describe('bad input to the market data stream', () => {
  let stage: MarketStage
  let attacker: Viewer
  let neighbour: Viewer
  let beside: MarketClient
  let kept: readonly string[] = []
  before(async () => {
    stage = await MarketStage.open({ TRUNKLINE_LOG_LEVEL: 'debug' })
    attacker = await stage.viewer('attacker')
    neighbour = await stage.viewer('neighbour')
    beside = await neighbour.session()
    kept = [await beside.subscribe('quotes', 'SPY'), await beside.subscribe('trades', 'SPY')]
  })
  after(async () => {
    await beside?.close()
    await stage[Symbol.asyncDispose]()
  })

  /** The session beside receives what it asked for, and nothing else. */
  const undisturbed = async (): Promise<void> => {
    const [quotes = ''] = kept
    await beside.updated(quotes, beside.updates(quotes).length + 1)
    assert.deepEqual(
      (await beside.list()).map(({ sub_id }) => sub_id),
      kept
    )
    await beside.quiet()
  }

  test('a table of frames', async t => {
    const table = frames()
    assert.ok(table.length >= 200, `${table.length} frames`)
    t.diagnostic(`${table.length} frames`)
    await using client = await attacker.session()
    const own = await client.subscribe('quotes', 'AAPL')
    let sinceQuiet = 0
    for (const { what, frame, named, answers } of table) {
      await t.test(what, async () => {
        client.send(frame)
        const reply = named ? await client.answer(ID) : await client.notice()
        const found = reply.type === 'error' ? reply.error_code : reply.type
        assert.ok(answers.includes(found), `${JSON.stringify(reply).slice(0, 400)}, not ${answers}`)
        assert.ok(JSON.stringify(reply.message ?? '').length < 1_000, 'an answer stays short')
      })
      if (++sinceQuiet % 20 === 0) {
        assert.deepEqual(
          (await client.list()).map(({ sub_id }) => sub_id),
          [own]
        )
        await undisturbed()
      }
    }
    assert.equal(await client.subscribe('quotes', 'AAPL'), '2', 'none of them took an id')
    await client.updated('2')
  })

  test('the same frames before authentication do nothing and reveal nothing [S48]', async () => {
    const perSession = 40
    const table = frames()
    for (let from = 0; from < table.length; from += perSession) {
      await using unauthenticated = await stage.knock({ address: stage.address() })
      for (const { what, frame, named } of table.slice(from, from + perSession)) {
        unauthenticated.send(frame)
        const { type, error_code } = named ? await unauthenticated.answer(ID) : await unauthenticated.notice()
        assert.equal(type, 'error', what)
        assert.ok(['not_authenticated', 'invalid_request'].includes(error_code), `${what}: ${error_code}`)
      }
      await unauthenticated.authenticate(await attacker.token())
      assert.deepEqual(await unauthenticated.list(), [])
    }
    await undisturbed()
  })

  for (const { what, frames: parts, code } of fatal()) {
    test(`${what} ends the session with ${code}`, async () => {
      await using client = await attacker.session()
      await using unauthenticated = await stage.knock({ address: stage.address() })
      for (const victim of [client, unauthenticated]) {
        for (const { data, isLast, isText } of parts) victim.sendPart(data, isLast, isText)
        assert.equal((await victim.ended()).code, code)
      }
      await undisturbed()
    })
  }

  test('a message in parts is one message', async () => {
    await using client = await attacker.session()
    const text = JSON.stringify({ action: 'list_subscriptions', request_id: ID })
    for (const size of [1, 7, 30]) {
      for (let at = 0; at < text.length; at += size) client.sendPart(text.slice(at, at + size), at + size >= text.length)
      if (size > 1) assert.equal((await client.answer(ID)).type, 'subscriptions_list', `parts of ${size}`)
      else if (!client.isOver) await Promise.race([client.answer(ID), client.ended()])
      if (client.isOver) break
    }
    await undisturbed()
  })

  test('thousands of subscribes: 500 are taken, more refused, and the flood is ended with 4029', async () => {
    await using client = await attacker.session({ judges: false })
    const subscribe = (index: number): Body => ({ action: 'subscribe', channel: 'quotes', symbol: 'AAPL', request_id: `flood-${index}` })
    const calm = BURST - 100
    for (let index = 0; index < calm; index++) client.begin(subscribe(index))
    for (let index = 0; index < calm; index++) {
      const { sub_id, error_code } = await client.answer(`flood-${index}`)
      if (index < SUBSCRIPTIONS_MAX) assert.equal(sub_id, String(index + 1))
      else assert.equal(error_code, 'subscription_limit')
    }
    for (let index = calm; index < 4 * BURST; index++) client.begin(subscribe(index))
    assert.equal((await client.ended()).code, 4029)
    assert.deepEqual(
      client.notices.slice(0, 3).map(({ error_code }) => error_code),
      ['invalid_request', 'invalid_request', 'invalid_request']
    )
    await undisturbed()
  })

  test('a flood of frames without meaning is ended too, known or not', async () => {
    await using client = await attacker.session()
    await using unauthenticated = await stage.knock({ address: stage.address() })
    for (const flooder of [client, unauthenticated]) {
      for (let count = 0; count < 3 * BURST; count++) flooder.send('{}')
      assert.equal((await flooder.ended()).code, 4029)
    }
    await undisturbed()
  })

  test('another’s subscription cannot be ended, nor another’s token be used up', async () => {
    await using client = await attacker.session()
    for (const sub_id of kept) assert.equal((await client.ask({ action: 'unsubscribe', sub_id })).error_code, 'subscription_not_found')
    await undisturbed()
  })

  test('the service lives on, and nothing that was sent was logged', async () => {
    assert.ok(stage.service.isRunning())
    await undisturbed()
    const lines = stage.service
      .output()
      .split('\n')
      .filter(line => line.startsWith('{"level"'))
    for (const secret of [CANARY, 'mdt_', 'etc/passwd', 'drop table'])
      assert.deepEqual(
        lines.filter(line => line.includes(secret)),
        [],
        secret
      )
    for (const line of lines) assert.ok(JSON.parse(line).level < 50, line)
  })
})
