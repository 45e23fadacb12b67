// What one client may do to the stream, and that others do not feel it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import type { Body } from './api.ts'
import type { StreamClient } from './stream-client.ts'
import { isReceived } from './stream-ledger.ts'
import { Stage } from './stream-stage.ts'

const MESSAGE_BYTES_MAX = 64 * 1024
const USERS_MAX = 500
const UNAUTHENTICATED_MAX = 256
const BURST = 1_000
const AT_ONCE = 20
const AGAIN_MS = 250

describe('the limits of the broker stream', () => {
  let stage: Stage
  before(async () => {
    stage = await Stage.open('embedded')
  })
  after(() => stage[Symbol.asyncDispose]())

  /** Runs `work` beside a session that must not notice it. */
  const unnoticed = async (work: () => Promise<void>): Promise<void> => {
    const ada = await stage.trader('ada')
    await using other = await stage.session(['all'])
    await other.follow(ada.userId)
    await work()
    const { cl_order_id } = await ada.buy()
    await other.until(() => isReceived(other.updates, cl_order_id, 'filled'), 'the order is sent')
    await other.quiet()
  }
  const padded = (bytes: number): string => {
    const bare = JSON.stringify({ action: 'ping', seq: 1, pad: '' })
    return bare.replace('""', `"${'x'.repeat(bytes - bare.length)}"`)
  }

  test('a message of 64 KiB is taken, one byte more closes the session with 1009 [S49]', () =>
    unnoticed(async () => {
      await using client = await stage.session()
      const largest = padded(MESSAGE_BYTES_MAX)
      assert.equal(Buffer.byteLength(largest), MESSAGE_BYTES_MAX)
      assert.ok(['pong', 'error'].includes((await client.ask(largest)).type))
      await client.quiet()
      client.send(padded(MESSAGE_BYTES_MAX + 1))
      assert.equal((await client.ended()).code, 1009)
      await using unauthenticated = await stage.unauthenticated()
      unauthenticated.send(Buffer.alloc(MESSAGE_BYTES_MAX + 1))
      assert.equal((await unauthenticated.ended()).code, 1009)
    }))

  test('a platform may subscribe its 500 users at once, the 501st fails, and a place that is freed can be taken', () =>
    unnoticed(async () => {
      const users = Array.from({ length: USERS_MAX + 1 }, (_, index) => `user-${index}`)
      // A request waits for the database for a bounded time, so not all at once.
      const waiting = users.values()
      const worker = async () => {
        for (const userId of waiting) await stage.api.user(userId)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, worker))
      await using client = await stage.unauthenticated()
      client.send({ action: 'authenticate', ...stage.credentials })
      client.send({ action: 'subscribe', topics: ['all'] })
      for (const user_id of users.slice(0, USERS_MAX)) client.send({ action: 'subscribe_user', user_id })
      for (let seq = 1; seq <= BURST - USERS_MAX - 2; seq++) client.send({ action: 'ping', seq })
      assert.equal((await client.reply()).type, 'auth_success')
      assert.equal((await client.reply()).type, 'subscribed')
      for (const user_id of users.slice(0, USERS_MAX))
        assert.deepEqual(await client.reply(), { type: 'user_subscribed', user_id, seq: 0 }, 'answers come in the order of the requests')
      for (let seq = 1; seq <= BURST - USERS_MAX - 2; seq++) assert.deepEqual(await client.reply(), { type: 'pong', seq })
      const [first = '', last = ''] = [users[0], users.at(-1)]
      const refused = await client.ask({ action: 'subscribe_user', user_id: last })
      assert.deepEqual([refused.type, /\b500\b/.test(refused.message)], ['subscription_failed', true], refused.message)
      await client.follow(first)
      await client.unfollow('nobody')
      assert.equal((await client.ask({ action: 'subscribe_user', user_id: last })).type, 'subscription_failed', 'no place was freed')
      await client.unfollow(first)
      await client.follow(last)
      assert.equal((await client.ask({ action: 'subscribe_user', user_id: first })).type, 'subscription_failed')
    }))

  test('a flood is answered with errors, then ended with 4029', () =>
    unnoticed(async () => {
      await using client = await stage.session()
      for (let seq = 0; seq < 3 * BURST; seq++) client.send({ action: 'ping', seq })
      assert.equal((await client.ended()).code, 4029)
      const types: readonly string[] = client.received.slice(2).map(({ message }) => message.type)
      const firstError = types.indexOf('error')
      assert.ok(firstError >= BURST - 10 && firstError < 2 * BURST, `the first error came after ${firstError} answers`)
      assert.ok(types.slice(0, firstError).every(type => type === 'pong'))
      const seqs: readonly number[] = client.received.filter(({ message }) => message.type === 'pong').map(({ message }) => message.seq)
      assert.deepEqual(
        seqs,
        seqs.toSorted((a, b) => a - b)
      )
    }))

  test('a flood of one who is not known is ended too', () =>
    unnoticed(async () => {
      await using client = await stage.unauthenticated()
      for (let count = 0; count < 3 * BURST; count++) client.send('{"action":"ping"}')
      assert.equal((await client.ended()).code, 4029)
    }))

  test('an address may have so many sockets that are not authenticated: the next is asked to retry, and those that are there get through [S47]', () =>
    unnoticed(async () => {
      await using sockets = new AsyncDisposableStack()
      await using known = await stage.session()
      const knocked: StreamClient[] = []
      for (let count = 0; count < UNAUTHENTICATED_MAX; count++) {
        const client = sockets.use(stage.knock())
        await client.welcomed()
        knocked.push(client)
      }
      const [first] = knocked
      assert.ok(first !== undefined)
      let isOver = false
      void first.ended().then(() => (isOver = true))
      const comeAgain = async () => {
        const next = sockets.use(stage.knock())
        await Promise.race([next.welcomed().catch(() => null), next.ended()])
        return isOver
      }
      await until(comeAgain, 'the first has had its time and made way', PATIENCE_MS, AGAIN_MS)
      assert.equal((await first.ended()).code, 4001)
      const last = knocked.at(-1)
      await last?.authenticate(stage.credentials)
      await last?.quiet()
      await known.quiet()
      assert.equal((await stage.api.call('GET', '/users', { headers: stage.api.platform })).status, 200)
    }))

  test('an address with many failed authentications is slowed down, and its known client is not locked out', () =>
    unnoticed(async () => {
      const wrong: Body = { action: 'authenticate', client_id: 'pk_nobody', client_secret: 'sk_nothing' }
      let failures = 0
      let isSlowed = false
      for (let count = 0; count < 100 && !isSlowed; count++) {
        await using client = await stage.unauthenticated()
        let replies = 0
        for (; replies < 5; replies++) {
          client.send(wrong)
          const reply = await client.reply().catch(() => null)
          if (reply === null) break
          failures++
        }
        isSlowed = replies < 5
      }
      assert.ok(isSlowed, `${failures} failures of one address went on undisturbed`)
      await using known = await stage.session()
      await known.quiet()
    }))
})
