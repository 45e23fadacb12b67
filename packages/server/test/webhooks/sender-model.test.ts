// Random endpoints, events, failures, crashes and owner changes against a model of the receiver.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '@trunkline/core/domain/json'
import { StoreUnavailable } from '@trunkline/core/ports/store'
import { SeededChance } from '@trunkline/testkit/chance'
import type { WebhookOutcome, WebhookRequest } from '../../src/webhooks/exchange.ts'
import { RECEIVED, REFUSED, SILENT, WebhookNode, WebhookWorld } from './webhook-world.ts'

/** What one endpoint has received, whether its answer arrived or not. */
class Receiver {
  /** By user: the newest event that was received. */
  readonly newest = new Map<string, number>()
  /** By user: the newest event that was answered with success, and the answer arrived. */
  readonly answered = new Map<string, number>()
  readonly contents = new Map<string, string>()
  repeats = 0
  readonly faults: string[] = []

  receive({ headers, body }: WebhookRequest): string {
    const text = Buffer.from(body).toString()
    const id = headers['webhook-id'] ?? ''
    if ((this.contents.get(id) ?? text) !== text) this.faults.push(`${id} came with another content`)
    this.contents.set(id, text)
    let name = ''
    for (const { seq, user_id } of dataOf(text)) {
      name = user_id
      const newest = this.newest.get(user_id) ?? 0
      if (seq > newest + 1) this.faults.push(`${user_id}: ${seq} came after ${newest}`)
      if (seq <= newest) this.repeats += 1
      this.newest.set(user_id, Math.max(newest, seq))
    }
    return name
  }
}

function dataOf(text: string): readonly { readonly seq: number; readonly user_id: string }[] {
  const document = parseJson(text)
  return isMessage(document) ? document.data : []
}

function isMessage(value: unknown): value is { readonly data: readonly { readonly seq: number; readonly user_id: string }[] } {
  return typeof value === 'object' && value !== null && 'data' in value && Array.isArray(value.data)
}

async function simulate(seed: number, hasFaults: boolean) {
  const chance = new SeededChance(seed)
  const world = new WebhookWorld()
  const receivers = new Map<string, Receiver>()
  let isCalm = !hasFaults
  const exchange = async (request: WebhookRequest): Promise<WebhookOutcome> => {
    const receiver = receivers.get(request.url)
    if (receiver === undefined) return REFUSED
    await world.clock.sleep(chance.whole(1, 400))
    if (!isCalm && chance.happens(0.2)) return chance.happens(0.5) ? REFUSED : { ...REFUSED, retryAfter: '3' }
    const userId = receiver.receive(request)
    // It was received, and the answer was lost.
    if (!isCalm && chance.happens(0.1)) return SILENT
    receiver.answered.set(userId, receiver.newest.get(userId) ?? 0)
    return RECEIVED
  }
  world.beforeWrite = async () => {
    await world.clock.sleep(chance.whole(0, 300))
    if (!isCalm && chance.happens(0.05)) throw new StoreUnavailable('the write was lost')
  }
  const limits = { waitingMax: chance.whole(4, 20), places: chance.whole(2, 20) }
  const newNode = () => new WebhookNode(world, exchange, { fraction: chance.fraction, limits })
  const endpoints = Array.from({ length: chance.whole(1, 3) }, (_, at) => world.addEndpoint(`https://hooks${at}.example/`))
  for (const { url } of endpoints) receivers.set(url, new Receiver())
  const users = Array.from({ length: chance.whole(1, 8) }, () => world.addUser())
  let node = newNode()
  await node.own()
  for (let step = 0; step < 120; step++) {
    const userKey = chance.oneOf(users)
    if (userKey !== undefined) for (let count = chance.whole(0, 4); count > 0; count--) world.commit(userKey)
    await world.clock.advance(chance.whole(0, 1_500))
    if (hasFaults && chance.happens(0.05)) {
      // Half of the owners release first; the others crash, and what they still do is fenced.
      if (chance.happens(0.5)) {
        const released = node.release()
        await world.clock.advance(6_000)
        await released
      }
      const former = node
      node = newNode()
      await node.own()
      void former.sender.stop()
    }
    if (hasFaults) world.isDown = chance.happens(0.03)
    for (const { url, endpointId } of endpoints) {
      for (const { userKey: key, userId } of world.users.values()) {
        const { seq } = world.cursor(endpointOf(world, endpointId), key)
        const answered = receivers.get(url)?.answered.get(userId) ?? 0
        assert.ok(seq <= answered, `seed ${seed}: the cursor of ${userId} is at ${seq}, and ${answered} was answered`)
      }
    }
  }
  world.isDown = false
  isCalm = true
  // Enabling ends all waits for retries.
  for (const { endpointId } of endpoints) world.change(endpointOf(world, endpointId), { disabled: null })
  await world.clock.advance(150_000)
  return { world, receivers, node }
}

function endpointOf(world: WebhookWorld, endpointId: string) {
  const known = world.endpoints.get(endpointId)
  assert.ok(known)
  return known.endpoint
}

async function assertComplete(seed: number, hasFaults: boolean): Promise<number> {
  const { world, receivers, node } = await simulate(seed, hasFaults)
  let repeats = 0
  for (const [url, receiver] of receivers) {
    assert.deepEqual(receiver.faults, [], `seed ${seed} ${url}`)
    for (const { userKey, userId } of world.users.values())
      assert.equal(receiver.newest.get(userId) ?? 0, world.lasts.get(userKey), `seed ${seed}: ${userId} at ${url}`)
    repeats += receiver.repeats
  }
  assert.equal(world.movedBack, 0, `seed ${seed}`)
  assert.equal(node.sender.waiting, 0, `seed ${seed}`)
  return repeats
}

test('every user’s events arrive in order and none is missing, whatever fails', async () => {
  for (let seed = 1; seed <= 25; seed++) await assertComplete(seed, true)
})

test('without failures and crashes nothing is repeated', async () => {
  for (let seed = 101; seed <= 110; seed++) assert.equal(await assertComplete(seed, false), 0, `seed ${seed}`)
})
