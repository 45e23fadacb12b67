// How well a connection follows its broker, and what a session receives of it: while the broker is mute, away, or done with the login.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import type { Body } from './api.ts'
import type { StreamClient } from './stream-client.ts'
import { accumulated, assertLawful, isReceived } from './stream-ledger.ts'
import { Stage, type Trader } from './stream-stage.ts'

const HEARTBEAT_MS = 200

describe('the health of connections', () => {
  let stage: Stage
  before(async () => {
    stage = await Stage.open('embedded', { SANDBOX_HEARTBEAT_MS: String(HEARTBEAT_MS) })
  })
  after(() => stage[Symbol.asyncDispose]())

  /** A trader whose connection is live, and two sessions: one that wants to know of its health, and one that does not. */
  const scene = async (
    name: string
  ): Promise<{ readonly trader: Trader; readonly aware: StreamClient; readonly unaware: StreamClient }> => {
    const trader = await stage.trader(name)
    const aware = await stage.session(['all'], { extensions: ['stream_status'] })
    const unaware = await stage.session(['all'])
    for (const session of [aware, unaware]) await session.follow(trader.userId, 0)
    await health(trader, 'live')
    return { trader, aware, unaware }
  }
  /** Returns when `GET /connections` shows one of the states, and gives the row. */
  const health = async (trader: Trader, ...healths: readonly string[]): Promise<Body> => {
    let row: Body
    await until(
      async () => {
        row = await trader.connection()
        return healths.includes(row.health)
      },
      `the connection is ${healths.join(' or ')}`,
      30_000
    )
    assert.ok(Math.abs(Date.parse(row.health_since) - Date.now()) < 120_000)
    assert.equal(row.health_reason === null, row.health === 'live', 'whatever is not live has a reason')
    return row
  }
  /** Returns when the session has received the state after the first `from` statuses. */
  const untilStatus = async (client: StreamClient, trader: Trader, from: number, ...healths: readonly string[]): Promise<Body> => {
    const fits = (message: Body) => healths.includes(message.health) && message.connection_id === trader.connectionId
    await client.until(() => client.statuses.slice(from).some(fits), `the session receives ${healths.join(' or ')}`)
    const message = client.statuses.slice(from).find(fits)
    assert.equal(message.user_id, trader.userId)
    return message
  }
  const filledElsewhere = async (client: StreamClient, trader: Trader): Promise<void> => {
    const { client_order_id, id } = await trader.buyElsewhere()
    await client.until(
      () => [client_order_id, id].some(name => isReceived(client.updates, name, 'filled')),
      'a purchase made meanwhile is sent',
      30_000
    )
  }

  test('a connection that somebody listens to goes live, and a session receives its present state once', async () => {
    const ada = await stage.trader('ada')
    const before = await ada.connection()
    assert.deepEqual([before.status, before.health], ['ACTIVE', 'polling'])
    assert.equal(typeof before.health_reason, 'string')
    await using client = await stage.session(['all'], { extensions: ['stream_status'] })
    await client.follow(ada.userId)
    await untilStatus(client, ada, 0, 'live')
    const row = await health(ada, 'live')
    assert.ok(row.health_since >= before.health_since)
    await using second = await stage.session(['all'], { extensions: ['stream_status'] })
    await second.follow(ada.userId)
    await second.quiet()
    assert.deepEqual(second.statuses, [
      {
        type: 'stream_status',
        user_id: ada.userId,
        connection_id: ada.connectionId,
        status: 'ACTIVE',
        health: 'live',
        since: row.health_since,
        reason: null
      }
    ])
    const isAfter = second.received.findIndex(({ message }) => message.type === 'stream_status')
    assert.ok(isAfter > second.received.findIndex(({ message }) => message.type === 'user_subscribed'))
  })

  test('when the broker’s stream is cut and stays away, orders are followed all the same, and it goes live again', async () => {
    const { trader, aware, unaware } = await scene('cut')
    await using _ = aware
    await using __ = unaware
    const from = aware.statuses.length
    await stage.control('POST', '/faults', { on: 'stream.connect', do: 'status', status: 503 })
    await stage.control('POST', '/streams', { do: 'drop', login: trader.userId })
    await untilStatus(aware, trader, from, 'polling', 'stale')
    await filledElsewhere(aware, trader)
    const polled = await health(trader, 'polling')
    assert.equal(polled.status, 'ACTIVE')
    await stage.control('DELETE', '/faults')
    const again = aware.statuses.length
    await untilStatus(aware, trader, again, 'live')
    await health(trader, 'live')
    await filledElsewhere(aware, trader)
    assertLawful(aware.updates, 0)
    await unaware.quiet()
    assert.deepEqual(unaware.statuses, [], 'who did not subscribe receives none')
  })

  test('a broker that falls silent is noticed within its heartbeats, and nothing that happened meanwhile is missed', async () => {
    const { trader, aware, unaware } = await scene('mute')
    await using _ = aware
    await using __ = unaware
    const from = aware.statuses.length
    await stage.control('POST', '/streams', { do: 'mute', login: trader.userId })
    const { client_order_id, id } = await trader.buyElsewhere('3')
    await untilStatus(aware, trader, from, 'polling', 'stale')
    await stage.control('POST', '/streams', { do: 'normal', login: trader.userId })
    await untilStatus(aware, trader, from, 'live')
    await health(trader, 'live')
    await aware.until(() => [client_order_id, id].some(name => isReceived(aware.updates, name, 'filled')), 'the purchase is sent')
    await aware.until(() => accumulated(aware.updates).positions.get('AAPL')?.quantity === '3', 'and what it led to')
    assertLawful(aware.updates, 0)
    await unaware.quiet()
    assert.deepEqual(unaware.statuses, [])
  })

  test('a broker that answers nothing leaves the last known, breaks nothing, and is live again when it answers', async () => {
    const { trader, aware, unaware } = await scene('away')
    await using _ = aware
    await using __ = unaware
    const placed = await trader.buy('2')
    await aware.until(() => isReceived(aware.updates, placed.cl_order_id, 'filled'), 'the order is sent')
    await aware.until(() => accumulated(aware.updates).positions.get('AAPL')?.quantity === '2', 'and what it led to')
    const from = aware.statuses.length
    await stage.control('POST', '/faults', { on: '*', do: 'status', status: 503 })
    await stage.control('POST', '/streams', { do: 'drop', login: trader.userId })
    await untilStatus(aware, trader, from, 'stale')
    const row = await health(trader, 'stale')
    assert.equal(row.status, 'ACTIVE', 'only a definitive rejection breaks a connection')
    const { status, body } = await trader.call('GET', '/positions')
    assert.deepEqual([status, body[0]?.quantity], [200, '2'])
    await stage.control('DELETE', '/faults')
    const again = aware.statuses.length
    await untilStatus(aware, trader, again, 'live')
    await filledElsewhere(aware, trader)
    assertLawful(aware.updates, 0)
    await unaware.quiet()
    assert.deepEqual(unaware.statuses, [])
  })

  test('a login that the broker ends breaks the connection at once, and an unaware session receives nothing new', async () => {
    const { trader, aware, unaware } = await scene('revoked')
    await using _ = aware
    await using __ = unaware
    const from = aware.statuses.length
    await stage.control('POST', `/logins/${trader.userId}/revoke`, {})
    const broken = await untilStatus(aware, trader, from, 'broken')
    assert.equal(broken.status, 'BROKEN')
    const row = await trader.connection()
    assert.deepEqual([row.status, row.health], ['BROKEN', 'broken'], 'what a session receives can be read already')
    assert.equal(typeof row.health_reason, 'string')
    const order = { account_id: trader.accountId, cl_order_id: trader.name(), broker: 'SANDBOX', side: 'BUY', symbol: 'AAPL' }
    const refused = await trader.call('POST', '/orders', { ...order, order_type: 'MKT', order_tif: 'DAY', order_qty: '1' })
    assert.equal(refused.status, 409)
    assert.equal((await trader.call('GET', '/balances')).status, 200, 'the last known can be read')
    await unaware.quiet()
    assert.deepEqual(unaware.statuses, [])
    await aware.quiet()
    assert.equal(aware.statuses.slice(from).filter(({ health }) => health === 'broken').length, 1)
  })
})
