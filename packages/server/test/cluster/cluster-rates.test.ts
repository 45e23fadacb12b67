// Limits that nodes share: a caller has them once, whichever nodes it asks, and without messages the nodes together grant no more.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { type NodeId, parseUuid } from '@trunkline/core/domain/ids'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { SeededChance } from '@trunkline/testkit/chance'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { FailedAttempts, sharedFailures, TooManyFailures } from '../../src/auth/failed-attempts.ts'
import { SharedRate } from '../../src/auth/shared-rate.ts'
import { ClusterRates } from '../../src/cluster/cluster-rates.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const LEASE_MS = 3_000

class Network {
  readonly clock = new VirtualClock()
  readonly nodes: TestNode[] = []
  sent: BusMessage[] = []

  /** The members as a node sees them; by default all, at once. */
  view: (node: TestNode) => readonly NodeId[] = () => this.nodes.map(({ nodeId }) => nodeId)

  join(): TestNode {
    const node = new TestNode(this)
    this.nodes.push(node)
    node.rates.start()
    return node
  }

  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms)
  }
}

class TestNode {
  readonly nodeId = parseUuid<NodeId>(crypto.randomUUID(), 'node')
  readonly bus = new LocalBus(quiet)
  readonly rates: ClusterRates
  isConnected = true

  constructor(network: Network) {
    this.bus.subscribe(message => {
      const nodeId = 'nodeId' in message ? message.nodeId : null
      if (nodeId !== this.nodeId) return
      network.sent.push(message)
      for (const other of network.nodes) if (other !== this && other.isConnected && this.isConnected) other.bus.publish(message)
    })
    const deps = { bus: this.bus, clock: network.clock, nodeId: this.nodeId, leaseMs: LEASE_MS }
    this.rates = new ClusterRates({ ...deps, members: () => network.view(this), isConnected: () => this.isConnected })
  }

  /** What a platform may do at this node. */
  platformRate(perSecond: number, burst: number): SharedRate {
    return new SharedRate({ perSecond, burst }, { owners: this.rates.limit('platform'), keys: this.rates.limit('platform_key') })
  }
}

async function three(): Promise<{ readonly network: Network; readonly nodes: readonly TestNode[] }> {
  const network = new Network()
  const nodes = [network.join(), network.join(), network.join()]
  await network.pass(1_100)
  return { network, nodes }
}

/** How many requests are granted in ten seconds, where each node is asked 100 times a second. */
async function granted(network: Network, platforms: readonly SharedRate[]): Promise<number> {
  let count = 0
  for (let step = 0; step < 1_000; step += 1) {
    for (const at of platforms) if (at.take('p', 'k', network.clock.monotonicMs()).retryAfterSeconds === null) count += 1
    await network.pass(10)
  }
  return count
}

test('a platform has its rate once over three nodes, and may have all of it at one', async () => {
  const { network, nodes } = await three()
  const platforms = nodes.map(node => node.platformRate(30, 90))
  const [first, second] = platforms
  assert.ok(first !== undefined && second !== undefined)
  for (let left = 89; left >= 50; left -= 1) assert.equal(first.take('p', 'k', network.clock.monotonicMs()).remaining, left)
  await network.pass(100)
  const seen = second.take('p', 'k', network.clock.monotonicMs())
  assert.deepEqual([seen.limit, seen.remaining], [90, 49])

  await network.pass(60_000)
  const count = await granted(network, platforms)
  // A burst, of which a quarter is left to other keys, and ten seconds. Beside that at most what the others grant within the tenth of a
  // second before they report it.
  assert.ok(count >= 360 && count <= 90 + 300 + 20, String(count))
})

test('nodes report to each other at most ten times a second, in messages of bounded length, and nothing where nothing is spent', async () => {
  const { network, nodes } = await three()
  const [node] = nodes
  assert.ok(node !== undefined)
  network.sent = []
  await network.pass(10_000)
  assert.deepEqual([...new Set(network.sent.map(({ type }) => type))], ['node_alive'])
  assert.ok(network.sent.length <= 33, 'each node once a second')
  network.sent = []
  const limit = node.rates.limit('any')
  for (let step = 0; step < 1_000; step += 1) {
    for (const caller of ['a', 'b']) limit.spent(caller, 1)
    await network.pass(1)
  }
  const sent = network.sent.flatMap(message => (message.type === 'rates_spent' ? [message] : []))
  assert.ok(sent.length <= 10, String(sent.length))
  await network.pass(100)
  network.sent = []
  for (let index = 0; index < 30_000; index += 1) limit.spent(`${'x'.repeat(200)} ${index}`, 1)
  await network.pass(2_000)
  const spent = network.sent.flatMap(message => (message.type === 'rates_spent' ? [message] : []))
  for (const message of spent) assert.ok(JSON.stringify(message).length < 16_000)
  assert.ok(spent.flatMap(({ spent: entries }) => entries).length <= 20_000, 'the rest is not sent')
})

test('without NATS each node grants its part; a node that is cut off and those that are not grant no more together', async () => {
  const { network, nodes } = await three()
  for (const node of nodes) node.isConnected = false
  await network.pass(250)
  const shares = () => nodes.map(({ rates }) => Math.round(rates.limit('platform').share * 3))
  assert.deepEqual(shares(), [1, 1, 1])
  const alone = await granted(
    network,
    nodes.map(node => node.platformRate(30, 90))
  )
  assert.ok(alone >= 360 && alone <= 390, String(alone))

  for (const node of nodes.slice(1)) node.isConnected = true
  await network.pass(2_000)
  assert.deepEqual(shares(), [1, 2, 2])
  const apart = await granted(
    network,
    nodes.map(node => node.platformRate(30, 90))
  )
  assert.ok(apart >= 355 && apart <= 390 + 20, String(apart))
  for (const node of nodes) node.isConnected = true
  await network.pass(1_100)
  assert.deepEqual(shares(), [3, 3, 3])
})

test('what a node granted is taken once it has named this node, so that nothing counts that was recorded before this one started', async () => {
  const { network, nodes } = await three()
  const [first] = nodes
  assert.ok(first !== undefined)
  const late = new TestNode(network)
  const platform = late.platformRate(30, 90)
  const remaining = () => platform.take('p', 'k', network.clock.monotonicMs()).remaining
  const spent: BusMessage = { type: 'rates_spent', nodeId: first.nodeId, spent: [['platform', 'p', 50]] }
  late.bus.publish({ type: 'node_alive', nodeId: first.nodeId, members: nodes.map(({ nodeId }) => nodeId) })
  late.bus.publish(spent)
  const before = remaining()
  late.bus.publish({ type: 'node_alive', nodeId: first.nodeId, members: [...nodes, late].map(({ nodeId }) => nodeId) })
  late.bus.publish(spent)
  assert.equal(remaining(), before - 51)
})

test('failed attempts count over all nodes', async () => {
  const { network, nodes } = await three()
  const monotonicMs = () => network.clock.monotonicMs()
  const rate = { perSecond: 0.01, burst: 6 }
  const attempts = nodes.map(({ rates }) => {
    const shared = sharedFailures(name => rates.limit(name), 'rest')
    return new FailedAttempts(rate, monotonicMs, { perSecond: 0.01, burst: 1_000 }, { ofAddress: 100, inAll: 1_000 }, shared)
  })
  const attempt = () => ({ of: 'key', address: '192.0.2.1', name: 'pk_1', secretHash: crypto.randomUUID() }) as const
  for (const at of attempts) for (const given of [attempt(), attempt()]) at.failed(given)
  await network.pass(200)
  for (const at of attempts) assert.throws(() => at.demandCalm(attempt()), TooManyFailures)
  for (const at of attempts) at.demandCalm({ ...attempt(), address: '192.0.2.2' })
})

test('the parts of a broker’s quota are never more than the whole while nodes join, leave or receive nothing', async () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const chance = new SeededChance(seed)
    const network = new Network()
    /** By node: since when, and until when, it is a member. */
    const joinedMs = new Map<TestNode, number>()
    const leftMs = new Map<TestNode, number>()
    const lagMs = new Map<TestNode, number>()
    const now = () => network.clock.monotonicMs()
    // A node begins with what is true then, and sees later changes late.
    network.view = node => {
      const asOfMs = Math.max(joinedMs.get(node) ?? 0, now() - (lagMs.get(node) ?? 0))
      return network.nodes
        .filter(other => (joinedMs.get(other) ?? 0) <= asOfMs && (leftMs.get(other) ?? Number.POSITIVE_INFINITY) > asOfMs)
        .map(({ nodeId }) => nodeId)
    }
    const join = () => {
      const node = new TestNode(network)
      network.nodes.push(node)
      joinedMs.set(node, now())
      lagMs.set(node, chance.whole(0, LEASE_MS - 1_000))
      node.isConnected = chance.whole(0, 3) > 0
      node.rates.start()
    }
    join()
    for (let step = 0; step < 300; step += 1) {
      const living = network.nodes.filter(node => !leftMs.has(node))
      const what = chance.whole(0, 40)
      if (what === 0 && living.length < 6) join()
      const [first] = living
      if (what === 1 && first !== undefined && living.length > 1) {
        leftMs.set(first, now())
        first.rates.stop()
      }
      if (what === 2 && first !== undefined) first.isConnected = !first.isConnected
      await network.pass(100)
      const sum = network.nodes.filter(node => !leftMs.has(node)).reduce((total, { rates }) => total + rates.quotaShare, 0)
      assert.ok(sum <= 1.000_001, `seed ${seed}, step ${step}: ${sum}`)
    }
    for (const { rates } of network.nodes) rates.stop()
  }
})

test('a node that receives messages again gives up its part of a quota before it names a new member', async () => {
  const network = new Network()
  const node = network.join()
  await network.pass(2 * LEASE_MS)
  node.isConnected = false
  const newcomer = network.join()
  node.isConnected = true
  node.bus.publish({ type: 'bus_resumed' })
  assert.deepEqual([node.rates.quotaShare, newcomer.rates.quotaShare], [1 / 2, 1 / 2])
  for (const { rates } of [node, newcomer]) rates.stop()
})

test('what is granted after the end, by the last requests, leaves nothing to do and is not sent', async () => {
  const { network, nodes } = await three()
  const [first] = nodes
  assert.ok(first !== undefined)
  const rate = first.platformRate(10, 20)
  first.rates.stop()
  network.sent = []
  rate.take('p', 'k', network.clock.monotonicMs())
  await network.pass(1_000)
  assert.deepEqual(
    network.sent.filter(message => message.type === 'rates_spent'),
    []
  )
  for (const { rates } of nodes) rates.stop()
})
