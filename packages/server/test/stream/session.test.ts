import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalBus } from '@trunkline/core/app/local-bus'
import type { Platform, User } from '@trunkline/core/domain/account'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { afterMicrotasks } from '@trunkline/testkit/after-microtasks'
import { until } from '@trunkline/testkit/until'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { Hub } from '../../src/stream/account/hub.ts'
import { SESSION_LIMITS } from '../../src/stream/account/limits.ts'
import { AccountSession } from '../../src/stream/account/session.ts'
import { AccountSessionSlots } from '../../src/stream/account/session-slots.ts'
import type { ClientConnection } from '../../src/stream/client-connection.ts'
import { ALEX, EventLog } from './event-log.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** Records what was sent: messages, and the numbers of updates. */
class RecordingConnection implements ClientConnection {
  readonly messages: { readonly type: string; readonly seq?: number }[] = []
  closed: number | null = null

  send(frame: Uint8Array): void {
    this.messages.push(
      JSON.parse(
        Buffer.from(frame)
          .toString()
          .replace(/^[^{]*/, '')
      )
    )
  }

  sendText(message: string): void {
    this.messages.push(JSON.parse(message))
  }

  readonly isBehind = false

  idle(): Promise<void> {
    return Promise.resolve()
  }

  finish(code: number): void {
    this.closed = code
  }

  pause(): void {}
  resume(): void {}
}

function stage() {
  const [log, clock, bus] = [new EventLog(), new VirtualClock(), new LocalBus(quiet)]
  const encode = ({ seq }: { readonly seq: number }) => Buffer.from(JSON.stringify({ type: 'positions', seq }))
  const hub = new Hub({ events: log, bus, clock, log: quiet, watch: { hold() {}, release() {} }, encode })
  const taking = { now: () => {} }
  const take = async () => {
    taking.now()
    return true
  }
  const slots = new AccountSessionSlots(
    { slots: { take, renew: async () => [], release: async () => undefined }, clock, log: quiet },
    { nodeId: 'node' }
  )
  const changes = { count: 0 }
  const secret = { now: 'secret' }
  /** `looking` is awaited while a user is looked up. */
  const users: { disabledAt: string | null; looking: () => Promise<void> } = { disabledAt: null, looking: async () => {} }
  const platform = { platformId: 'platform' } as Platform
  const key = { scopes: ['read'], disabledAt: null, expiresAt: null }
  const client = new RecordingConnection()
  const known: string[] = []
  const session = new AccountSession(
    {
      store: {
        users: Object({
          find: async () => {
            const known = { user: ALEX as User, secretHash: '', disabledAt: users.disabledAt }
            await users.looking()
            return known
          }
        }),
        events: log,
        connections: Object({ listByUser: async () => [] })
      },
      lookup: Object({
        rememberedPlatform: () => undefined,
        platform: async () => ({ platform, key, secretHash: secret.now, previous: null }),
        admits: () => true
      }),
      hasher: Object({ hash: (text: string) => text, equal: (a: string, b: string) => a === b }),
      healthOf: () => null,
      ids: Object({ uuid: () => 'id' }),
      meter: { count() {}, observe() {} },
      ...{
        clock,
        log: quiet,
        hub,
        slots,
        limits: SESSION_LIMITS,
        attempts: { demandCalm() {}, failed() {}, proved() {}, undecided() {} },
        failed() {},
        withPermit: read => read(),
        secretChanges: () => changes.count,
        denied() {},
        known: ({ sessionId }) => void known.push(sessionId),
        gone() {}
      }
    },
    client,
    '127.0.0.1'
  )
  const publish = (count: number) => bus.publish({ type: 'events', userKey: ALEX.userKey, events: log.write(count) } satisfies BusMessage)
  const send = (message: object) => session.listener.text(JSON.stringify(message))
  return { known, changes, secret, users, taking, bus, log, clock, hub, slots, client, session, publish, send }
}

test('a session is known once it is authenticated, and not before', async () => {
  const { known, clock, secret, session, send } = stage()
  session.start()
  secret.now = 'another'
  send({ action: 'authenticate', client_id: 'client', client_secret: 'secret' })
  await clock.settled()
  assert.deepEqual(known, [])
  secret.now = 'secret'
  send({ action: 'authenticate', client_id: 'client', client_secret: 'secret' })
  await clock.settled()
  assert.deepEqual(known, ['id'])
})

test('an event that is published at any moment around the end of a replay is sent once', async () => {
  for (let moment = 0; moment < 12; moment += 1) {
    const { log, clock, hub, slots, client, session, publish, send } = stage()
    session.start()
    send({ action: 'authenticate', client_id: 'client', client_secret: 'secret' })
    send({ action: 'subscribe', topics: ['all'] })
    log.write(5)
    const read = log.read.bind(log)
    let isPublished = false
    log.read = async (...requested) => {
      const events = await read(...requested)
      if (!isPublished) afterMicrotasks(moment, () => publish(1))
      isPublished = true
      return events
    }
    send({ action: 'subscribe_user', user_id: 'alex', after: 0 })
    await clock.settled()
    publish(1)
    await clock.settled()
    const updates = client.messages.filter(({ type }) => type === 'positions').map(({ seq }) => seq)
    assert.deepEqual(updates, [1, 2, 3, 4, 5, 6, 7], `published ${moment} microtasks after the last read`)
    await hub.stop()
    await slots.stop()
  }
})

test('a session that does not authenticate in time is closed', async () => {
  const { clock, hub, slots, client, session, send } = stage()
  session.start()
  send({ action: 'ping' })
  await clock.advance(29_999)
  assert.equal(client.closed, null)
  await clock.advance(1)
  assert.equal(client.closed, 4001)
  await hub.stop()
  await slots.stop()
})

test('credentials that cannot be checked are not called wrong: the session ends with the code to connect again', async () => {
  const { known, hub, slots, client, taking, session, send } = stage()
  session.start()
  taking.now = () => {
    throw new Error('the database does not answer')
  }
  send({ action: 'authenticate', client_id: 'client', client_secret: 'secret' })
  await until(() => client.closed !== null, 'the session is closed')
  assert.deepEqual([client.closed, known, client.messages.map(({ type }) => type)], [1013, [], ['welcome']])
  await hub.stop()
  await slots.stop()
})

test('a secret that is replaced while it is being checked opens nothing', async () => {
  const { changes, secret, taking, clock, hub, slots, client, session, send } = stage()
  session.start()
  taking.now = () => {
    secret.now = 'another'
    changes.count += 1
  }
  send({ action: 'authenticate', client_id: 'client', client_secret: 'secret' })
  await clock.settled()
  assert.deepEqual(
    client.messages.map(({ type }) => type),
    ['welcome', 'auth_error']
  )
  assert.equal(session.platformId, null)
  await hub.stop()
  await slots.stop()
})

test('a user who is disabled while a session subscribes to them is not followed, whenever that is', async () => {
  for (let moment = 0; moment < 12; moment += 1) {
    const { bus, users, clock, hub, slots, client, session, publish, send } = stage()
    session.start()
    send({ action: 'authenticate', client_id: 'client', client_secret: 'secret' })
    send({ action: 'subscribe', topics: ['all'] })
    await clock.settled()
    const disable = () => {
      users.disabledAt = '2026-01-01'
      bus.publish({ type: 'user_disabled', userKey: ALEX.userKey })
    }
    users.looking = async () => {
      users.looking = async () => {}
      afterMicrotasks(moment, disable)
    }
    send({ action: 'subscribe_user', user_id: 'alex' })
    await clock.settled()
    publish(1)
    await clock.settled()
    assert.equal(client.messages.filter(({ type }) => type === 'positions').length, 0, `disabled ${moment} microtasks after the look`)
    assert.match(client.messages.at(-1)?.type ?? '', /^(?:subscription_failed|user_unsubscribed)$/)
    assert.equal(hub.users, 0)
    await hub.stop()
    await slots.stop()
  }
})
