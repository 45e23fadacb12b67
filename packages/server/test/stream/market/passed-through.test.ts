// A session whose user another node owns: everything goes through, in order, and neither side is sent more than it takes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OwnerReceiver, OwnerSession } from '../../../src/stream/market/owner-sessions.ts'
import { Node } from './node.ts'

class Owner implements OwnerSession {
  readonly sent: string[] = []
  readonly gates: (() => void)[] = []
  isFull = false
  isPaused = false
  hasEnded = false

  send(message: string): Promise<void> | undefined {
    this.sent.push(message)
    return this.isFull ? new Promise<void>(resolve => this.gates.push(resolve)) : undefined
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  end(): void {
    this.hasEnded = true
  }
}

async function passedThrough() {
  const owner = new Owner()
  const opened: { userKey: string; address: string; receiver: OwnerReceiver }[] = []
  const node = new Node(undefined, {
    isElsewhere: () => true,
    async open(userKey, address, receiver) {
      opened.push({ userKey, address, receiver })
      return owner
    }
  })
  node.issue('token', 1)
  const session = node.open('192.0.2.9')
  session.use('token')
  session.send({ action: 'list_subscriptions', request_id: 'early' })
  await node.stage.clock.settled()
  const [only] = opened
  assert.ok(only !== undefined && opened.length === 1)
  return { node, owner, ...session, opened: only }
}

const bytes = (message: object) => Buffer.from(JSON.stringify(message))

test('the token, and everything after it, goes to the owner, with the client’s address', async () => {
  const { owner, opened, client, seen, send } = await passedThrough()
  assert.deepEqual([opened.userKey, opened.address, seen.isKnown], ['user', '192.0.2.9', true])
  send({ action: 'nonsense' })
  assert.deepEqual(
    owner.sent.map(text => JSON.parse(text)),
    [
      { request_id: 'r', action: 'authenticate', access_token: 'token' },
      { request_id: 'early', action: 'list_subscriptions' },
      { request_id: 'r', action: 'nonsense' }
    ]
  )
  opened.receiver.message(bytes({ type: 'auth_success', message: 'Zoë' }))
  assert.deepEqual(client.messages, [{ type: 'auth_success', message: 'Zoë' }])
})

test('a client that is behind stops the reading from the owner until it has caught up', async () => {
  const { owner, opened, client, listener } = await passedThrough()
  opened.receiver.message(bytes({ at: 1 }))
  assert.equal(owner.isPaused, false)
  client.isBehind = true
  opened.receiver.message(bytes({ at: 2 }))
  assert.equal(owner.isPaused, true)
  client.isBehind = false
  listener.caughtUp()
  assert.equal(owner.isPaused, false)
})

test('an owner that takes no more stops the reading from the client, and nothing is lost', async () => {
  const { node, owner, client, send } = await passedThrough()
  const { length } = owner.sent
  owner.isFull = true
  const message = { action: 'snapshot', symbol: 'x'.repeat(10_000) }
  for (let at = 0; at < 40; at += 1) send(message)
  assert.equal(owner.sent.length, length + 1)
  assert.equal(client.isPaused, true)
  owner.isFull = false
  for (const open of owner.gates) open()
  await node.stage.clock.settled()
  assert.deepEqual([owner.sent.length - length, client.isPaused], [40, false])
})

test('either end ends the other', async () => {
  const first = await passedThrough()
  first.listener.gone()
  assert.equal(first.owner.hasEnded, true)
  const second = await passedThrough()
  second.opened.receiver.closed(4003, 'The connection was deleted.')
  assert.deepEqual([second.client.closed, second.owner.hasEnded], [4003, true])
})
