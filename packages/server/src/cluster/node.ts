import type { AppDeps } from '@trunkline/core/app/application'
import type { UserWatch } from '@trunkline/core/app/mirror/user-watch'
import { within } from '@trunkline/core/app/time-limits'
import type { Connection, ConnectionHealth } from '@trunkline/core/domain/account'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import { type Partition, parsePartition, partitionOf } from '@trunkline/core/domain/partition'
import type { Bus } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { Meter } from '@trunkline/core/ports/meter'
import type { Ownership } from '@trunkline/core/ports/ownership'
import type { Hasher } from '@trunkline/core/ports/vault'
import type { Settings } from '../config/settings.ts'
import { ClusterRates } from './cluster-rates.ts'
import { DIRECT_MESSAGE_PATH, DirectMessages } from './direct-messages.ts'
import {
  answerOf,
  FOLLOWED_PATH,
  FollowedElsewhere,
  Following,
  followedMessage,
  HEALTH_PATH,
  HealthElsewhere,
  readAnswer,
  readFollowed,
  readQuestion,
  type UserHealth
} from './following/index.ts'
import { NodeClients } from './forward/node-clients.ts'
import { forwarderLimits, NodeForwarder, nodeClientLimits } from './forward/node-forwarder.ts'
import { NodeListener, type NodeListenerOptions } from './forward/node-listener.ts'
import { askNode, type NodeMessageHandler, offerMessage, sendMessage } from './forward/node-messages.ts'
import { OwnerMarketSessions } from './forward/owner-market-sessions.ts'
import { Signer, signatureKey, Verifier } from './forward/signature.ts'
import { ClusterMember, LEASE_TIMING, type LeaseLost, leaseThread, MEMBER_DEFAULTS, SharedLease, sharedMs } from './members/index.ts'
import { type CorrectableClock, SharedWallClock } from './shared-wall-clock.ts'

/**
 * To one other node: more than the requests that one platform may have under way, so that its slow ones delay no other platform's. From all
 * other nodes together: that, and the market data sessions that they pass through.
 */
const CONNECTIONS = { toNode: 2_048, fromNodes: 32_768 }
/** One node opens no more at a time. Behind a proxy several have one address, and need only the moment until their request is read. */
const UNPROVEN = { perAddress: CONNECTIONS.toNode, inAll: 2 * CONNECTIONS.toNode }
/** How long the users of a node that ends may take to move to others. */
const DRAIN_MS_MAX = 12_000
/** How long clients may take to send a request on a connection that they keep alive, and so to learn that it ends. */
const LEAVING_MS = 1_500

const FIRST = parsePartition(0)

interface NodeDeps {
  readonly clock: Clock & CorrectableClock
  readonly ids: Ids
  readonly log: Log
  readonly meter: Pick<Meter, 'count'>
  readonly hasher: Pick<Hasher, 'derive'>
  /** For operators: host and process. */
  readonly name: string
  readonly databaseUrl: string
  readonly onLost: (cause: LeaseLost) => void
}

/** What this node does for users, and finds. */
type Followed = Pick<AppDeps, 'bus' | 'mirrors' | 'watch'>

interface FollowReports {
  /** The owners publish updates of users in these partitions for this node from now on, and may have left out earlier ones. */
  readonly taken: (partitions: ReadonlySet<Partition>) => void
  /** The owner of a user whom this node follows has found this. */
  readonly health: (found: UserHealth) => void
}

/** This process as a node of a cluster: what it owns, and its connections with the other nodes. */
export class ClusterNode {
  readonly forwarder: NodeForwarder
  /** Sends other nodes what the bus may lose. */
  readonly messages: DirectMessages
  readonly marketSessions: OwnerMarketSessions
  readonly #deps: NodeDeps
  readonly #nodeId: NodeId
  readonly #member: ClusterMember
  readonly #clients: NodeClients
  readonly #settings: Pick<Settings, 'nodeHost' | 'nodePort' | 'nodeUrl'>
  #url = ''
  #isLeaving = false
  #listener: NodeListener | null = null
  #followed: FollowedElsewhere | null = null
  #following: Following | null = null
  #health: HealthElsewhere | null = null
  #unsubscribe: () => void = () => undefined
  #mirrors: Followed['mirrors'] | null = null
  #onMessage: (message: unknown) => void = () => undefined
  readonly #questions = new Map<string, NodeMessageHandler>()

  constructor(settings: Pick<Settings, 'nodeHost' | 'nodePort' | 'nodeUrl' | 'answerWithinMs'>, deps: NodeDeps) {
    const { clock, ids, log, meter, hasher } = deps
    this.#deps = deps
    this.#settings = settings
    this.#nodeId = ids.uuid<NodeId>()
    this.#member = this.#newMember()
    const { answerWithinMs } = settings
    const key = signatureKey(hasher)
    const signer = new Signer(key, ids.secret(''))
    this.#clients = new NodeClients({ signer, key, clock }, nodeClientLimits(answerWithinMs, CONNECTIONS.toNode))
    this.marketSessions = new OwnerMarketSessions({ ownership: this.#member, clock, signer, key })
    this.messages = new DirectMessages({
      ...{ clock, log, ownership: this.#member },
      others: () => this.#member.members.filter(({ nodeId }) => nodeId !== this.#nodeId),
      send: (node, message) => offerMessage(this.#clients, node, DIRECT_MESSAGE_PATH, message)
    })
    this.forwarder = new NodeForwarder(
      {
        ...{ clock, log, meter, ownership: this.#member, clients: this.#clients },
        suspect: nodeId => this.#member.suspect(nodeId),
        isLiving: nodeId => this.#member.members.some(member => member.nodeId === nodeId)
      },
      forwarderLimits(answerWithinMs)
    )
  }

  /** `take` receives what other nodes send in this way. What it throws refuses the message. */
  onMessage(take: (message: unknown) => void): void {
    this.#onMessage = take
  }

  /** `answer` answers what other nodes ask at a path. What it throws refuses the question. To be called before it listens. */
  onQuestion(path: string, answer: NodeMessageHandler): void {
    this.#questions.set(path, answer)
  }

  /** The other nodes, as they are asked at a path. */
  asked(path: string): { ids(): readonly NodeId[]; ask(nodeId: string, question: object): Promise<unknown> } {
    const others = () => this.#member.members.filter(({ nodeId }) => nodeId !== this.#nodeId)
    return {
      ids: () => others().map(({ nodeId }) => nodeId),
      ask: async (asked, question) => {
        const node = others().find(({ nodeId }) => nodeId === asked)
        if (node === undefined) throw new Error('the node is gone')
        return await askNode(this.#clients, node, path, question)
      }
    }
  }

  /** Of this run of the process. */
  get nodeId(): NodeId {
    return this.#nodeId
  }

  get ownership(): Ownership {
    return this.#member
  }

  /** The nodes that are members, this one included once it has joined. */
  get memberIds(): readonly NodeId[] {
    return this.#member.members.map(({ nodeId }) => nodeId)
  }

  /** Whether this node does what one has to do for all: the owner of the first partition. */
  get isFirst(): boolean {
    return this.#member.owns(FIRST)
  }

  /** Limits that this node shares with the others. */
  ratesOver(bus: Bus, isConnected: () => boolean): ClusterRates {
    const { clock } = this.#deps
    const members = () => this.memberIds
    return new ClusterRates({ bus, clock, nodeId: this.#nodeId, members, isConnected, leaseMs: LEASE_TIMING.leaseMs })
  }

  /** Partitions that this node owns. */
  get owned(): number {
    return this.#member.ownedCount
  }

  /** Nodes that are members, this one included. */
  get members(): number {
    return this.#member.members.length
  }

  /** What the sessions of this node follow users with, wherever they are owned. To be called once. */
  follow({ watch, mirrors, bus }: Followed, { taken, health }: FollowReports): Pick<UserWatch, 'hold' | 'release'> {
    const { clock, log } = this.#deps
    this.#mirrors = mirrors
    const followed = new FollowedElsewhere(watch, clock)
    this.#followed = followed
    this.#member.listen({ gained: partitions => followed.gained(partitions), release: async () => undefined })
    const following: Following = new Following({
      ...{ watch, clock, log, ownership: this.#member },
      taken: (users, node) => {
        taken(new Set(users.map(partitionOf)))
        elsewhere.followed(node, users)
      },
      send: (node, users) => sendMessage(this.#clients, node, FOLLOWED_PATH, followedMessage({ nodeId: this.#nodeId, users }))
    })
    const elsewhere = new HealthElsewhere({
      ...{ nodeId: this.#nodeId, following, clock, log, ownership: this.#member },
      ask: async (node, question) => readAnswer(await askNode(this.#clients, node, HEALTH_PATH, question)),
      changed: health
    })
    this.#unsubscribe = bus.subscribe(
      message => {
        if (message.type === 'connection_health_elsewhere') elsewhere.suspect(message.userKey)
      },
      ['connection_health_elsewhere']
    )
    this.#following = following
    this.#health = elsewhere
    return following
  }

  /** The health of the connection; null: its user's owner is another node, which has yet to tell. Then it is reported once it has. */
  healthOf(connection: Connection): ConnectionHealth | null {
    const isKnown = connection.status === 'BROKEN' || this.#member.ownerOf(connection.userKey).kind === 'this'
    return (isKnown ? this.#mirrors?.health(connection) : this.#health?.of(connection)) ?? null
  }

  /** Whether sessions of other nodes may follow the user. Only its owner can know that they do not. */
  isFollowedElsewhere(userKey: UserKey): boolean {
    return this.#member.ownerOf(userKey).kind !== 'this' || this.#followed?.mayFollow(userKey) !== false
  }

  /** `release` is called with the users that other nodes are to take over now. */
  onRelease(release: (isMoved: (userKey: UserKey) => boolean) => void): void {
    this.#member.listen({
      gained: () => undefined,
      release: async partitions => release(userKey => partitions.has(partitionOf(userKey)))
    })
  }

  /** Takes requests of other nodes from now on. */
  async listen(takes: Pick<NodeListenerOptions, 'serve' | 'passThrough'>): Promise<void> {
    const { hasher, log } = this.#deps
    const { nodeHost, nodePort, nodeUrl } = this.#settings
    const messages = {
      ...Object.fromEntries(this.#questions),
      [DIRECT_MESSAGE_PATH]: (message: unknown) => this.#onMessage(message),
      [FOLLOWED_PATH]: (message: unknown) => {
        const { nodeId, users } = readFollowed(message)
        this.#followed?.replace(nodeId, users)
      },
      [HEALTH_PATH]: (message: unknown) => {
        const found = () => this.#mirrors?.knownHealth ?? { changes: 0, known: [] }
        return answerOf({ found, followedAt: nodeId => this.#followed?.usersAt(nodeId) ?? null }, readQuestion(message))
      }
    }
    const key = signatureKey(hasher)
    const verifier = new Verifier(key, this.#nodeId)
    const limits = { connectionsMax: CONNECTIONS.fromNodes, unproven: UNPROVEN }
    this.#listener = new NodeListener(verifier, log, { ...limits, key, messages, ...takes })
    const port = await this.#listener.listen(nodeHost, nodePort ?? 0)
    this.#url = nodeUrl ?? `http://${nodeHost.includes(':') ? `[${nodeHost}]` : nodeHost}:${port}`
  }

  /** Joins the other nodes. @throws LeaseLost if that is not possible */
  async join(): Promise<void> {
    await this.#member.start()
    this.#following?.start()
    this.#health?.start()
    this.#deps.log.info('this node has joined', { nodeId: this.#nodeId, url: this.#url, members: this.members })
  }

  /**
   * Moves all users to other nodes, and lets the clients move too: they have a while in which each response ends its connection. Requests
   * are still taken, and passed on.
   */
  async leave(): Promise<void> {
    const { clock } = this.#deps
    // The last node has nobody to give its users to.
    if (this.members <= 1) return
    this.#isLeaving = true
    await Promise.all([within(clock, this.#member.drain(), DRAIN_MS_MAX), clock.sleep(LEAVING_MS)])
  }

  /** Whether clients are to go to the other nodes. */
  get isLeaving(): boolean {
    return this.#isLeaving && this.members > 1
  }

  /** Resolves when every request that another node has passed on has its response. */
  async idle(): Promise<void> {
    await this.#listener?.idle()
  }

  /** Leaves the others, and ends every connection with them. */
  async stop(): Promise<void> {
    this.marketSessions.stop()
    this.#unsubscribe()
    await this.#following?.stop()
    await this.#health?.stop()
    await this.messages.stop()
    this.#followed?.stop()
    await this.#member.stop()
    this.#listener?.cut()
    await this.#listener?.stop()
    await this.#clients.stop()
  }

  #newMember(): ClusterMember {
    const { clock, log, name, databaseUrl, onLost } = this.#deps
    const lease = new SharedLease()
    const wallClock = new SharedWallClock(clock, sharedMs, log)
    const options = { nodeId: this.#nodeId, leaseMs: LEASE_TIMING.leaseMs, ...MEMBER_DEFAULTS, onLost }
    return new ClusterMember(options, {
      ...{ clock, log, lease, nowMs: sharedMs },
      onWallClock: (wallMs, sentMs, cameMs) => wallClock.read(wallMs, sentMs, cameMs),
      // The URL is known once the listener has its port.
      startKeeper: post =>
        leaseThread({ url: databaseUrl, node: { nodeId: this.#nodeId, url: this.#url, name }, timing: LEASE_TIMING }, lease)(post)
    })
  }
}
