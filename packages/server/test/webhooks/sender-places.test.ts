// What users and endpoints share: the places for attempts, and the space for users who wait.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WebhookOutcome, WebhookRequest } from '../../src/webhooks/exchange.ts'
import { itemsOf, single } from './single-endpoint.ts'
import { EVERYTHING, RECEIVED, REFUSED, SILENT, uuidOf, WebhookNode, WebhookWorld } from './webhook-world.ts'

test('users whose events are passed over take no space from others, and are written together, without places', async () => {
  const world = new WebhookWorld()
  const received: string[] = []
  const exchange = async ({ url }: WebhookRequest) => {
    received.push(url)
    return RECEIVED
  }
  const node = new WebhookNode(world, exchange, { limits: { waitingMax: 60, places: 2 } })
  const filtered = world.addEndpoint('https://filtered.example/', { topics: ['balances'], orderStatuses: null })
  const users = Array.from({ length: 30 }, () => world.addUser())
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.settled()
  world.addEndpoint('https://healthy.example/')
  await world.clock.advance(9_000)
  assert.deepEqual([node.sender.waiting, world.cursors.size], [0, 30])
  let writes = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  world.beforeWrite = () => {
    writes += 1
    return promise
  }
  await world.clock.advance(2_000)
  assert.deepEqual([writes, node.sender.attempts, node.sender.waiting], [30, 0, 0])
  resolve()
  await world.clock.settled()
  for (const userKey of users) {
    world.commit(userKey)
    assert.equal(world.cursor(filtered, userKey).seq, 1)
  }
  await world.clock.settled()
  assert.deepEqual([received.length, node.sender.waiting], [30, 0])
})

test('beyond the bound, users whose events are passed over are left to the next searches', async () => {
  const world = new WebhookWorld()
  const node = new WebhookNode(world, async () => RECEIVED, { limits: { waitingMax: 10 } })
  const endpoint = world.addEndpoint('https://hooks.example/', { topics: ['balances'], orderStatuses: null })
  const users = Array.from({ length: 25 }, () => world.addUser())
  await node.own()
  const written = () => users.filter(userKey => world.cursor(endpoint, userKey).seq === 1).length
  for (const userKey of users) {
    world.commit(userKey)
    await world.clock.settled()
  }
  await world.clock.advance(11_000)
  assert.equal(written(), 10)
  await world.clock.advance(150_000)
  assert.equal(written(), 25)
})

test('an endpoint that fails has one place and an attempt a second, until one succeeds; others keep theirs', async () => {
  const world = new WebhookWorld()
  const open = new Map<string, ((outcome: WebhookOutcome) => void)[]>()
  const node = new WebhookNode(world, ({ url }) => {
    const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
    open.set(url, [...(open.get(url) ?? []), resolve])
    return promise
  })
  const [dead, healthy] = [world.addEndpoint('https://dead.example/'), world.addEndpoint('https://healthy.example/')]
  const users = Array.from({ length: 50 }, () => world.addUser())
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.settled()
  const answer = async (url: string, outcome: WebhookOutcome) => {
    const waiting = open.get(url) ?? []
    open.set(url, [])
    for (const resolve of waiting) resolve(outcome)
    await world.clock.settled()
    return waiting.length
  }
  assert.equal(await answer(dead.url, SILENT), 32)
  assert.equal(await answer(healthy.url, RECEIVED), 32)
  assert.equal(await answer(healthy.url, RECEIVED), 18)
  assert.equal(await answer(dead.url, REFUSED), 0)
  await world.clock.advance(1_000)
  assert.equal(await answer(dead.url, REFUSED), 1)
  assert.equal(await answer(dead.url, REFUSED), 0)
  await world.clock.advance(1_000)
  assert.equal(await answer(dead.url, RECEIVED), 1)
  assert.equal(open.get(dead.url)?.length, 32)
})

test('once an endpoint receives again, those that wait for a retry are tried at once; again so after ten minutes only', async () => {
  const world = new WebhookWorld()
  let isDown = true
  let requests = 0
  const node = new WebhookNode(world, async () => {
    requests += 1
    return isDown ? REFUSED : RECEIVED
  })
  const endpoint = world.addEndpoint('https://hooks.example/')
  const users = Array.from({ length: 12 }, () => world.addUser())
  await node.own()
  let outages = 0
  const behind = () => users.filter(userKey => world.cursor(endpoint, userKey).seq < outages).length
  const fail = async () => {
    isDown = true
    outages += 1
    for (const userKey of users) world.commit(userKey)
    // Until the next retry of each is 10 minutes away.
    await world.clock.advance(300_000)
    isDown = false
    requests = 0
  }
  await fail()
  world.commit(world.addUser())
  await world.clock.advance(2_000)
  assert.deepEqual([behind(), requests], [0, 13])
  await fail()
  world.commit(world.addUser())
  await world.clock.advance(2_000)
  assert.deepEqual([behind(), requests], [12, 1])
  await world.clock.advance(1_000_000)
  assert.equal(behind(), 0)
  await fail()
  world.commit(world.addUser())
  await world.clock.advance(2_000)
  assert.deepEqual([behind(), requests], [0, 13])
})

test('a platform holds 64 places at most, of all its endpoints, and each of these has its turn', async () => {
  const world = new WebhookWorld()
  const open: { url: string; answer: (outcome: WebhookOutcome) => void }[] = []
  const node = new WebhookNode(world, ({ url }) => {
    const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
    open.push({ url, answer: resolve })
    return promise
  })
  for (let at = 0; at < 4; at++) world.addEndpoint(`https://held.example/${at}`)
  const other = uuidOf<typeof world.platformId>()
  world.addEndpoint('https://other.example/', EVERYTHING, other)
  const users = Array.from({ length: 40 }, () => world.addUser())
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.settled()
  const held = (part: string) => open.filter(({ url }) => url.includes(part)).length
  assert.equal(held('held.example'), 64)
  world.commit(world.addUser(other))
  await world.clock.settled()
  assert.equal(held('other.example'), 1)
  for (let round = 0; open.length > 0; round++) {
    assert.ok(held('held.example') <= 64 && round < 10, `${held('held.example')} at once`)
    for (const { answer } of open.splice(0)) answer(RECEIVED)
    await world.clock.settled()
  }
  assert.equal(node.sender.waiting, 0)
})

test('platforms with silent endpoints leave places to others, before it is known that these are slow', async () => {
  const world = new WebhookWorld()
  const received: number[] = []
  const node = new WebhookNode(world, async ({ url }) => {
    if (url.includes('silent')) await world.clock.sleep(5_000)
    else received.push(world.clock.monotonicMs())
    return url.includes('silent') ? SILENT : RECEIVED
  })
  const platforms = Array.from({ length: 6 }, () => uuidOf<typeof world.platformId>())
  const users = platforms.flatMap(platformId => {
    for (let at = 0; at < 4; at++) world.addEndpoint(`https://silent.example/${platformId}/${at}`, EVERYTHING, platformId)
    return Array.from({ length: 40 }, () => world.addUser(platformId))
  })
  world.addEndpoint('https://healthy.example/')
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.settled()
  assert.ok(node.sender.attempts < 256, `${node.sender.attempts} of 256 places are taken`)
  const begun = world.clock.monotonicMs()
  for (let count = 0; count < 30; count++) world.commit(world.addUser())
  await world.clock.settled()
  assert.deepEqual([received.length, received.at(-1)], [30, begun])
})

test('a platform that had its share goes on when another one leaves its places', async () => {
  const world = new WebhookWorld()
  const open = new Map<string, (() => void)[]>()
  const node = new WebhookNode(
    world,
    ({ url }) => {
      const { promise, resolve } = Promise.withResolvers<WebhookOutcome>()
      open.set(url, [...(open.get(url) ?? []), () => resolve(RECEIVED)])
      return promise
    },
    { limits: { places: 20 } }
  )
  const [first, second] = [uuidOf<typeof world.platformId>(), uuidOf<typeof world.platformId>()]
  const [mine, other] = [
    world.addEndpoint('https://a.example/', EVERYTHING, first),
    world.addEndpoint('https://b.example/', EVERYTHING, second)
  ]
  const heldBy = ({ url }: { readonly url: string }) => open.get(url)?.length ?? 0
  const answer = async ({ url }: { readonly url: string }) => {
    for (const each of open.get(url)?.splice(0) ?? []) each()
    await world.clock.settled()
  }
  const waiting = Array.from({ length: 12 }, () => world.addUser(first))
  const early = Array.from({ length: 7 }, () => world.addUser(second))
  await node.own()
  for (const userKey of early) world.commit(userKey)
  await world.clock.settled()
  for (const userKey of waiting) world.commit(userKey)
  await world.clock.settled()
  assert.deepEqual([heldBy(other), heldBy(mine)], [7, 5], 'each takes another one while twice as many are free as it holds')
  await answer(other)
  assert.deepEqual([heldBy(other), heldBy(mine)], [0, 7])
  await answer(mine)
  await answer(mine)
  assert.equal(node.sender.waiting, 0)
})

test('slow endpoints have 16 places each, and half of all together', async () => {
  const world = new WebhookWorld()
  const atOnce = new Map<string, number>()
  const node = new WebhookNode(
    world,
    async ({ url }) => {
      atOnce.set(url, (atOnce.get(url) ?? 0) + 1)
      await world.clock.sleep(2_000)
      atOnce.set(url, (atOnce.get(url) ?? 0) - 1)
      return RECEIVED
    },
    { limits: { places: 120 } }
  )
  const platforms = [world.platformId, ...Array.from({ length: 3 }, () => uuidOf<typeof world.platformId>())]
  const users = platforms.flatMap(platformId => {
    world.addEndpoint(`https://${platformId}.example/`, EVERYTHING, platformId)
    return Array.from({ length: 120 }, () => world.addUser(platformId))
  })
  await node.own()
  for (const userKey of users) world.commit(userKey)
  await world.clock.advance(7_000)
  const each = [...atOnce.values()]
  assert.deepEqual([each.length, each.every(count => count > 0 && count <= 16), node.sender.attempts], [4, true, 60])
  await world.clock.advance(40_000)
  assert.equal(node.sender.waiting, 0)
})

test('another description leaves a failing endpoint its one place, another address gives it all', async () => {
  const { world, node, requests, endpoint } = await single(() => REFUSED)
  for (let count = 0; count < 60; count++) world.commit(world.addUser())
  await world.clock.advance(60_000)
  const tried = async (next: Parameters<typeof world.change>[1]) => {
    const before = requests.length
    world.change(endpoint, next)
    node.bus.publish({ type: 'webhooks_changed', platformId: world.platformId })
    await world.clock.settled()
    return requests.length - before
  }
  const [described, moved] = [await tried({ description: 'other' }), await tried({ url: 'https://moved.example/' })]
  assert.ok(described <= 1 && moved >= 10, `${described} and ${moved} attempts`)
})

test('beyond the bound, users of the endpoint with most are left out, and found again', async () => {
  const world = new WebhookWorld()
  let isFailing = true
  const received = new Set<string>()
  const exchange = async (request: WebhookRequest) => {
    if (request.url.includes('dead') && isFailing) return REFUSED
    for (const { user_id } of itemsOf(request)) received.add(`${request.url} ${user_id}`)
    return RECEIVED
  }
  const node = new WebhookNode(world, exchange, { limits: { waitingMax: 10 } })
  world.addEndpoint('https://dead.example/')
  world.addEndpoint('https://healthy.example/')
  const users = Array.from({ length: 30 }, () => world.addUser())
  await node.own()
  for (const userKey of users) {
    world.commit(userKey)
    await world.clock.settled()
    assert.ok(node.sender.waiting <= 10, `${node.sender.waiting} wait`)
  }
  await world.clock.advance(120_000)
  assert.equal([...received].filter(name => name.includes('healthy')).length, 30)
  isFailing = false
  await world.clock.advance(3_600_000)
  assert.equal([...received].filter(name => name.includes('dead')).length, 30)
  assert.equal(node.sender.waiting, 0)
})
