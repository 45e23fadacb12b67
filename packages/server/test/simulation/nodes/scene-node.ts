// One process of a simulation with several, as a node: member, forwarder and messages as the service has them, on the scene's time.
import type { AppDeps } from '@trunkline/core/app/application'
import type { UserWatch } from '@trunkline/core/app/mirror/user-watch'
import { within } from '@trunkline/core/app/time-limits'
import type { Connection, ConnectionHealth } from '@trunkline/core/domain/account'
import type { NodeId, UserId, UserKey } from '@trunkline/core/domain/ids'
import { partitionOf } from '@trunkline/core/domain/partition'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OwnerNode } from '@trunkline/core/ports/ownership'
import type { Store } from '@trunkline/core/ports/store'
import { DirectMessages } from '../../../src/cluster/direct-messages.ts'
import type { HealthAnswer, HealthQuestion, UserHealth } from '../../../src/cluster/following/health-message.ts'
import { answerOf, FollowedElsewhere, Following, HealthElsewhere } from '../../../src/cluster/following/index.ts'
import type { NodeAnswer } from '../../../src/cluster/forward/node-client.ts'
import { forwarderLimits, NodeForwarder } from '../../../src/cluster/forward/node-forwarder.ts'
import { NO_ALLOWANCE } from '../../../src/cluster/forward/signature.ts'
import { LEASE_TIMING, LeaseKeeper } from '../../../src/cluster/members/lease-keeper.ts'
import { ClusterMember, type LeaseLost, MEMBER_DEFAULTS } from '../../../src/cluster/members/member.ts'
import type { Notice } from '../../../src/cluster/members/messages.ts'
import { SharedLease } from '../../../src/cluster/members/shared-lease.ts'
import { type CorrectableClock, SharedWallClock } from '../../../src/cluster/shared-wall-clock.ts'
import { type Forwarder, moving } from '../../../src/http/forwarder.ts'
import { BETWEEN_NODES } from '../../../src/http/passed-on.ts'
import { answerOrResult, Found } from '../../../src/http/without-answer.ts'
import type { FenceOf } from '../../../src/store/writes/fences.ts'
import { encodedOnce } from '../../../src/stream/account/encoded-once.ts'
import { encodeUpdate } from '../../../src/stream/account/hub.ts'
import type { Life } from '../life.ts'
import type { NodeStore, SteppedStore, Terms } from '../stepped-store.ts'
import type { LeaseLink } from './lease-link.ts'
import type { Network } from './network.ts'
import { NodesBus } from './nodes-bus.ts'

/** As in the service. */
const DRAIN_MS_MAX = 12_000
const LEAVING_MS = 1_500
const MESSAGE_MS = 5_000
const IDLE_MS = 10_000
/** Half as often as in the service, so that a day costs less. */
const TIMING = { ...LEASE_TIMING, renewEveryMs: 1_000 }

export interface SceneNodeDeps {
  readonly name: string
  readonly nodeId: NodeId
  readonly life: Life
  readonly clock: Clock
  /** Of the machine. */
  readonly wallClock: CorrectableClock
  /** The one time of all. */
  readonly time: Pick<Clock, 'monotonicMs'>
  readonly log: Log
  readonly network: Network
  readonly link: LeaseLink
  readonly store: SteppedStore
  /** A store of this process alone, whose writes carry these fences. */
  readonly openStore: (fenceOf: FenceOf) => Store
  readonly nameOf: (userKey: UserKey) => UserId | null
  readonly answerWithinMs: number
  readonly onLost: (cause: LeaseLost) => void
  readonly wrote: (what: string, userKey: UserKey, fence: number | null) => void
  /** Breaks fences on purpose. */
  readonly fence: (fence: number | null) => number | null
}

/** A request of a user, as the application carries it out. */
export interface AskedWork<T> {
  readonly userKey: UserKey
  readonly hasEffect: boolean
  readonly work: (app: AppDeps) => Promise<T>
  /** Looks up what it led to; null where that cannot be found out. */
  readonly result?: ((app: AppDeps) => Promise<T | null>) | null
}

type Outcome<T> = { readonly value: T } | { readonly cause: unknown }

export class SceneNode {
  readonly name: string
  readonly nodeId: NodeId
  readonly life: Life
  readonly bus: NodesBus
  readonly store: NodeStore
  readonly encode = encodedOnce(encodeUpdate)
  readonly member: ClusterMember
  readonly #deps: SceneNodeDeps
  readonly #messages: DirectMessages
  readonly #forwarder: NodeForwarder
  readonly #underWay = new Set<Promise<unknown>>()
  #app: AppDeps | null = null
  #followed: FollowedElsewhere | null = null
  #following: Following | null = null
  #health: HealthElsewhere | null = null

  constructor(deps: SceneNodeDeps) {
    const { name, nodeId, life, clock, log, network, nameOf } = deps
    this.#deps = deps
    this.name = name
    this.nodeId = nodeId
    this.life = life
    this.member = this.#newMember()
    this.#messages = new DirectMessages({
      ...{ clock, log, ownership: this.member },
      others: () => this.member.members.filter(member => member.nodeId !== nodeId),
      send: async (node, message) => {
        await this.#sendTo(node, async other => other.bus.receive(message))
        return 'taken'
      }
    })
    this.#forwarder = new NodeForwarder(
      {
        ...{ clock, log, ownership: this.member, meter: { count: () => undefined } },
        clients: { pass: (node, { url }, signal) => network.send(this, node.nodeId, other => other.#serve(url), signal) },
        suspect: id => this.member.suspect(id),
        isLiving: id => this.member.members.some(member => member.nodeId === id)
      },
      forwarderLimits(deps.answerWithinMs)
    )
    const carry = (message: Parameters<NodesBus['arrive']>[0]) => network.carry(this, message)
    const isFollowed = (userKey: UserKey) => !this.owns(userKey) || this.#followed?.mayFollow(userKey) !== false
    this.bus = new NodesBus({ ...{ clock, log, nameOf, carry, isFollowed }, encode: this.encode, direct: this.#messages })
    this.store = this.#nodeStore()
    network.add(this)
  }

  /** What this node's sessions follow users with. To be called once, with the application over this node. */
  attach(app: AppDeps, changed: (found: UserHealth) => void): Pick<UserWatch, 'hold' | 'release'> {
    const { clock, log } = this.#deps
    const { nodeId } = this
    this.#app = app
    const { watch, bus } = app
    const followed = new FollowedElsewhere(watch, clock)
    this.#followed = followed
    this.member.listen({ gained: partitions => followed.gained(partitions), release: async () => undefined })
    const following: Following = new Following({
      ...{ watch, clock, log, ownership: this.member },
      taken: (users, node) => {
        bus.publish({ type: 'partitions_followed', partitions: new Set(users.map(partitionOf)) })
        elsewhere.followed(node, users)
      },
      send: (node, users) => this.#sendTo(node, async other => other.#followed?.replace(nodeId, users))
    })
    const elsewhere = new HealthElsewhere({
      ...{ nodeId, following, clock, log, changed, ownership: this.member },
      ask: (node, question) => this.#sendTo(node, async other => other.#healthFor(question))
    })
    bus.subscribe(
      message => {
        if (message.type === 'connection_health_elsewhere') elsewhere.suspect(message.userKey)
      },
      ['connection_health_elsewhere']
    )
    this.#following = following
    this.#health = elsewhere
    return following
  }

  /** Null: the owner is another node, which has yet to be asked. */
  healthOf(connection: Connection): ConnectionHealth | null {
    const isKnown = connection.status === 'BROKEN' || this.owns(connection.userKey)
    return (isKnown ? this.#app?.mirrors.health(connection) : this.#health?.of(connection)) ?? null
  }

  /** @throws LeaseLost */
  async join(): Promise<void> {
    await this.member.start()
    this.#following?.start()
    this.#health?.start()
  }

  owns(userKey: UserKey): boolean {
    return this.member.ownerOf(userKey).kind === 'this'
  }

  /** What the owner of the user makes of a request that this node was sent. */
  async ask<T>({ userKey, hasEffect, work, result = null }: AskedWork<T>): Promise<T> {
    const outcomes: Outcome<T>[] = []
    const carryOut = async (app: AppDeps) => outcomes.push(await settled(work(app))) - 1
    const url = this.#deps.network.register({ userKey, carryOut })
    const asked = this.life.running().then(() => this.#asked({ userKey, hasEffect, result }, url))
    this.#underWay.add(asked)
    const answer = await this.life.lived(asked).finally(() => this.#underWay.delete(asked))
    if (answer instanceof Found) return answer.record
    const outcome = outcomes[answer]
    if (outcome === undefined) throw new Error('a node gave the number of no outcome')
    if ('cause' in outcome) throw outcome.cause
    return outcome.value
  }

  /** Moves all users to other nodes, and gives clients time to go there. */
  async leave(): Promise<void> {
    const { clock } = this.#deps
    if (this.member.members.length > 1) await Promise.all([within(clock, this.member.drain(), DRAIN_MS_MAX), clock.sleep(LEAVING_MS)])
  }

  /** Resolves when nothing is passed on, or after a while. */
  async idle(): Promise<void> {
    await within(this.#deps.clock, Promise.allSettled(this.#underWay), IDLE_MS)
  }

  async stop(): Promise<void> {
    await this.#health?.stop()
    await this.#following?.stop()
    await this.#messages.stop()
    this.#followed?.stop()
    await this.member.stop()
  }

  /** As the service's HTTP does: what comes without an answer is looked up, and passed on again if nothing was done. */
  async #asked<T>({ userKey, hasEffect, result }: Omit<Required<AskedWork<T>>, 'work'>, url: string): Promise<number | Found<T>> {
    const { clock, log, network } = this.#deps
    let times = 0
    const forwarder: Forwarder = {
      resultMs: this.#forwarder.resultMs,
      hasMoved: (...from) => this.#forwarder.hasMoved(...from),
      pass: async request => {
        times += 1
        if (times > 1) network.met(`${this.name}: an order is passed on again`, 'nodes: an order is passed on again')
        return await this.#forwarder.pass(request)
      }
    }
    const request = {
      ...{ userKey, url, hasEffect, hasResult: result !== null, method: 'POST', headers: {}, address: '', requestId: url },
      ...{ platformAllowance: NO_ALLOWANCE, body: Buffer.alloc(0) }
    }
    const app = this.#app
    const lookUp = result === null || app === null ? null : () => result(app)
    const answer = await answerOrResult({ forwarder, clock, log }, request, lookUp)
    if (answer instanceof Found)
      network.met(`${this.name}: an order without an answer is found`, 'nodes: an order without an answer is found')
    if (answer instanceof Found) return answer
    if (answer !== null) return Number(answer.body.toString())
    const { body, headers } = await this.#serve(url)
    if (headers[BETWEEN_NODES.notExecuted] !== undefined) throw moving()
    return Number(body.toString())
  }

  /** As the service's HTTP does: the owner executes it, and no other node. */
  async #serve(url: string): Promise<NodeAnswer> {
    const { userKey, carryOut } = this.#deps.network.asked(url)
    const app = this.#app
    if (app === null || !this.owns(userKey)) return { status: 503, headers: { [BETWEEN_NODES.notExecuted]: '1' }, body: Buffer.alloc(0) }
    const carried = carryOut(app)
    this.#underWay.add(carried)
    const number = await carried.finally(() => this.#underWay.delete(carried))
    return { status: 200, headers: {}, body: Buffer.from(String(number)) }
  }

  #healthFor(question: HealthQuestion): HealthAnswer {
    const found = () => this.#app?.mirrors.knownHealth ?? { changes: 0, known: [] }
    return answerOf({ found, followedAt: nodeId => this.#followed?.usersAt(nodeId) ?? null }, question)
  }

  async #sendTo<T>(node: OwnerNode, take: (other: SceneNode) => Promise<T>): Promise<T> {
    const over = new AbortController()
    using _limit = this.#deps.clock.alarm(MESSAGE_MS, () => over.abort())
    return await this.#deps.network.send(this, node.nodeId, take, over.signal)
  }

  #newMember(): ClusterMember {
    const { nodeId, name, life, clock, time, log, link, onLost } = this.#deps
    const lease = new SharedLease()
    const nowMs = () => time.monotonicMs()
    const wallClock = new SharedWallClock(this.#deps.wallClock, nowMs, log)
    return new ClusterMember(
      { nodeId, leaseMs: LEASE_TIMING.leaseMs, ...MEMBER_DEFAULTS, onLost },
      {
        ...{ clock, log, lease, nowMs },
        onWallClock: (...reading) => wallClock.read(...reading),
        startKeeper: post => {
          const keeper = new LeaseKeeper({
            ...{ lease, timing: TIMING, clock: { nowMs, sleep: (ms: number, signal: AbortSignal) => clock.sleep(ms, signal) } },
            database: link.database({ nodeId, url: `http://${name}`, name }, LEASE_TIMING.leaseMs),
            post: (notice: Notice) => void life.running().then(() => post(notice))
          })
          void keeper.run()
          return { request: request => keeper.request(request), abort: async () => keeper.abort() }
        }
      }
    )
  }

  /**
   * The service's store reads the fences when a statement is sent: it may have waited in the node before, or be on its way for long after.
   * So every second call is made under the fences of its arrival, which the node may have regained, and the others under those of its time.
   */
  #nodeStore(): NodeStore {
    const { store, openStore, wrote, fence } = this.#deps
    let current: ReadonlyMap<UserKey, number | null> = new Map()
    let calls = 0
    const now = () => new Map([...store.users].map(userKey => [userKey, this.member.fenceOf(userKey)]))
    const terms = (): Terms => {
      calls += 1
      const isReadLate = calls % 2 === 0
      let fences = now()
      return {
        enter: () => {
          if (isReadLate) fences = now()
          current = fences
        },
        wrote: (what, userKey) => wrote(`${this.name}’s ${what}`, userKey, fences.get(userKey) ?? null)
      }
    }
    return { terms, store: openStore(userKey => fence(current.get(userKey) ?? null)) }
  }
}

async function settled<T>(work: Promise<T>): Promise<Outcome<T>> {
  return await work.then(
    value => ({ value }),
    (cause: unknown) => ({ cause })
  )
}
