// Complete nodes on one database and at one broker, in this process, with real sockets between them.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Application } from '@trunkline/core/app/application'
import { application } from '@trunkline/core/app/application'
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { Deps } from '@trunkline/core/app/deps'
import { LocalBus } from '@trunkline/core/app/local-bus'
import { settlingOver } from '@trunkline/core/app/orders/settle-order'
import { DEFAULT_TIMING, type Timing } from '@trunkline/core/app/timing'
import { createUser } from '@trunkline/core/app/users/users'
import type { Platform } from '@trunkline/core/domain/account'
import { type NodeId, parseUserId } from '@trunkline/core/domain/ids'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import type { LogFields } from '@trunkline/core/ports/log'
import { PlainVault } from '@trunkline/testkit/plain-vault'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { SCRIPTED_CAPABILITIES, ScriptedBroker } from '@trunkline/testkit/scripted-broker/index'
import * as make from '@trunkline/testkit/store-contract/records'
import { WatchedStore } from '@trunkline/testkit/watched-store'
import type { FastifyInstance } from 'fastify'
import { CredentialCache } from '../../../src/auth/credential-cache.ts'
import type { LinkLimits } from '../../../src/cluster/forward/link-client.ts'
import type { NodeClientLimits } from '../../../src/cluster/forward/node-client.ts'
import { NodeClients } from '../../../src/cluster/forward/node-clients.ts'
import { type ForwarderLimits, forwarderLimits, NodeForwarder, nodeClientLimits } from '../../../src/cluster/forward/node-forwarder.ts'
import { NodeListener } from '../../../src/cluster/forward/node-listener.ts'
import {
  MARKET_SESSIONS_LIMITS,
  type MarketSessionsLimits,
  OwnerMarketSessions
} from '../../../src/cluster/forward/owner-market-sessions.ts'
import { Signer, signatureKey, Verifier } from '../../../src/cluster/forward/signature.ts'
import { buildHttp, DEFAULT_OPTIONS, type HttpOptions, type ObservedRequest } from '../../../src/http/index.ts'
import { operatorsApi } from '../../../src/operators/index.ts'
import { ALONE } from '../../../src/operators/nodes/index.ts'
import { RequestLog } from '../../../src/operators/request-log.ts'
import { SystemClock } from '../../../src/ops/clock.ts'
import { RandomIds } from '../../../src/ops/ids.ts'
import { openStore, type SqlStore } from '../../../src/store/index.ts'
import { StreamGateway } from '../../../src/stream/gateway.ts'
import { MarketStream } from '../../../src/stream/market/index.ts'
import { Sha256Hasher } from '../../../src/vault/hasher.ts'
import { buildWebhooks } from '../../../src/webhooks/index.ts'
import { ScriptedOwnership } from './scripted-ownership.ts'

export const HASHER = new Sha256Hasher(Buffer.alloc(32, 7))
const VAULT = new PlainVault()
const clock = new SystemClock()
const ids = new RandomIds()

/** A path that the nodes of the tests take messages at. */
export const MESSAGES = '/nodes/test'
export const MARKET = '/market-data/stream'

export interface NodeOptions {
  readonly timing?: Partial<Timing>
  readonly http?: Partial<HttpOptions>
  readonly forwarder?: Partial<ForwarderLimits>
  readonly clients?: Partial<NodeClientLimits & LinkLimits>
  readonly market?: Partial<MarketSessionsLimits>
  readonly capabilities?: Partial<BrokerCapabilities>
}

export interface Logged {
  readonly message: string
  readonly fields: LogFields
}

/** A node: the application, the REST API, and the listener between nodes. */
export class TestNode implements AsyncDisposable {
  readonly nodeId = ids.uuid<NodeId>()
  readonly ownership = new ScriptedOwnership()
  readonly logged: Logged[] = []
  readonly observed: ObservedRequest[] = []
  readonly suspected: NodeId[] = []
  /** Whether it takes the other nodes for living ones. */
  areOthersLiving = true
  /** Whether it knows what operators have owners do. */
  takesChanges = true
  readonly counted: string[] = []
  readonly watched: WatchedStore
  readonly clients: NodeClients
  readonly messages: unknown[] = []
  readonly marketSessions: OwnerMarketSessions
  readonly market: MarketStream
  readonly gateway: StreamGateway
  readonly #application: Application
  readonly #listener: NodeListener
  readonly #operators: ReturnType<typeof operatorsApi>
  readonly #passedThrough = new Set<Duplex>()
  readonly http: FastifyInstance
  /** Stands before the routing of requests of other nodes. */
  onPassedOn: (request: IncomingMessage, response: ServerResponse) => void = () => undefined
  url = ''
  nodeUrl = ''

  constructor(store: SqlStore, broker: ScriptedBroker, options: NodeOptions) {
    const note = (message: string, fields: LogFields = {}) => void this.logged.push({ message, fields })
    const log = { debug: note, info: note, warn: note, error: note }
    const count = (name: string, labels: Readonly<Record<string, string>> = {}) => {
      this.counted.push([name, ...Object.values(labels)].join(' '))
    }
    const meter = { count, observe: () => undefined }
    this.watched = new WatchedStore(store)
    const bus = new LocalBus(log)
    const deps: Deps = {
      ...{ clock, ids, log, bus },
      store: this.watched.store,
      brokers: new Map([[broker.capabilities.id, broker.definition]]),
      vault: VAULT,
      hasher: HASHER,
      meter,
      ownership: this.ownership,
      timing: { ...DEFAULT_TIMING, ...options.timing }
    }
    this.#application = application(deps, new CredentialCache(deps.store, bus, clock))
    const key = signatureKey(HASHER)
    const { answerWithinMs } = deps.timing
    const limits = { ...forwarderLimits(answerWithinMs), ...options.forwarder }
    const signer = new Signer(key, ids.secret(''))
    this.clients = new NodeClients({ signer, key, clock }, { ...nodeClientLimits(answerWithinMs, 64), ...options.clients })
    const suspect = (nodeId: NodeId) => void this.suspected.push(nodeId)
    const forwarder = new NodeForwarder(
      { ownership: this.ownership, clock, log, meter, clients: this.clients, suspect, isLiving: () => this.areOthersLiving },
      limits
    )
    this.http = buildHttp(this.#application.app, {
      ...DEFAULT_OPTIONS,
      publicUrl: () => this.url,
      webhooks: buildWebhooks({ webhookNetworks: [] }, deps, { add() {} }).ports,
      observe: request => void this.observed.push(request),
      forwarder,
      ...options.http
    })
    this.#operators = operatorsApi(this.http, this.#application.app, {
      ...{ operators: store.operators, reads: store.operatorReads, abandoned: store.audit, settling: settlingOver(this.#application.app) },
      ...{ webhooks: buildWebhooks({ webhookNetworks: [] }, deps, { add() {} }).ports, requests: new RequestLog(() => 0) },
      service: { startedAt: clock.now(), name: this.nodeId, version: '0.0.0', problem: async () => null },
      ...{ others: ALONE, forwarder, publicUrl: () => this.url, login: null, sandbox: 'not_offered' }
    })
    this.marketSessions = new OwnerMarketSessions(
      { ownership: this.ownership, clock, signer, key },
      { ...MARKET_SESSIONS_LIMITS, ...options.market }
    )
    this.market = new MarketStream(this.#application.app, {}, undefined, this.marketSessions)
    this.gateway = new StreamGateway(
      { clock, log },
      {
        endpoints: { [MARKET]: this.market },
        ofOtherNodes: this.market.ofOtherNodes,
        trustedProxies: ['loopback'],
        closed: () => undefined
      }
    )
    this.gateway.guard(this.http.server)
    this.#listener = new NodeListener(new Verifier(key, this.nodeId), log, {
      connectionsMax: 100,
      unproven: { perAddress: 100, inAll: 100 },
      key,
      passThrough: (request, socket, head, address, lines) => {
        this.#passedThrough.add(socket)
        this.gateway.passThrough(request, socket, head, address, lines)
      },
      messages: { [MESSAGES]: message => void this.messages.push(message) },
      serve: (request, response) => {
        this.onPassedOn(request, response)
        if (!this.takesChanges || !this.#operators.serve(request, response)) this.http.routing(request, response)
      }
    })
  }

  async start(): Promise<void> {
    this.url = await this.http.listen({ host: '127.0.0.1', port: 0 })
    this.nodeUrl = `http://127.0.0.1:${await this.#listener.listen('127.0.0.1', 0)}`
  }

  /** Resolves when every request that another node has passed on is over. */
  idle(): Promise<void> {
    return this.#listener.idle()
  }

  /** To the other nodes it is as if the process had ended. */
  kill(): void {
    void this.#listener.stop()
    this.#listener.cut()
    for (const socket of this.#passedThrough) socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watched.intercept = null
    this.kill()
    this.marketSessions.stop()
    await this.gateway.stop(1001, 'stopped')
    this.market.stop()
    await this.clients.stop()
    this.http.server.closeAllConnections()
    await this.http.close()
    await this.#operators.stop()
    await this.#application.stop()
  }
}

/** Two nodes, and a user with an account. The second node owns the user. */
export class Nodes implements AsyncDisposable {
  readonly asked: TestNode
  readonly owner: TestNode
  readonly store: SqlStore
  readonly broker: ScriptedBroker
  readonly credentials: Readonly<Record<string, string>>
  readonly connectionId: string
  readonly accountId: string
  readonly userKey: string
  readonly #end: () => Promise<void>

  private constructor(
    parts: Pick<Nodes, 'asked' | 'owner' | 'store' | 'broker' | 'credentials' | 'connectionId' | 'accountId' | 'userKey'>,
    end: () => Promise<void>
  ) {
    this.asked = parts.asked
    this.owner = parts.owner
    this.store = parts.store
    this.broker = parts.broker
    this.credentials = parts.credentials
    this.connectionId = parts.connectionId
    this.accountId = parts.accountId
    this.userKey = parts.userKey
    this.#end = end
  }

  static async open(options: NodeOptions = {}): Promise<Nodes> {
    const cluster = await sharedPostgres()
    const database = await createDatabase(cluster.url)
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 6 }, { clock, ids, log })
    const marketData = { ...SCRIPTED_CAPABILITIES.marketData, channels: ['quotes', 'trades'] } as const
    const broker = new ScriptedBroker(clock, { marketData, ...options.capabilities })
    const { platform, clientSecret } = await newPlatform(store)
    const { user, userSecret } = await createUser(
      { store, ids, hasher: HASHER, clock },
      { platform, ip: null, requestId: null },
      parseUserId('ada')
    )
    const { connection, account } = await make.connected(store, user)
    const sealed = sealCredentials(VAULT, connection, { credentials: { token: 't-1' }, endpoint: make.ENDPOINT }, 2)
    await store.connections.replaceCredentials(connection.connectionId, 1, sealed)
    const nodes = [new TestNode(store, broker, options), new TestNode(store, broker, options)] as const
    const [asked, owner] = nodes
    for (const node of nodes) await node.start()
    asked.ownership.to(owner)
    owner.ownership.toThis()
    const credentials = { 'client-id': platform.clientId, 'client-secret': clientSecret, 'user-id': user.userId, 'user-secret': userSecret }
    const { connectionId } = connection
    const parts = { asked, owner, store, broker, credentials, connectionId, accountId: account.accountId, userKey: user.userKey }
    return new Nodes(parts, async () => {
      for (const node of nodes) await node[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      await database.drop()
      await cluster.stop()
    })
  }

  ask(node: TestNode, method: string, path: string, more: { readonly headers?: object; readonly body?: unknown } = {}): Promise<Response> {
    const json = more.body === undefined ? {} : { 'content-type': 'application/json' }
    const body = more.body === undefined ? null : typeof more.body === 'string' ? more.body : JSON.stringify(more.body)
    return fetch(`${node.url}${path}`, { method, headers: { ...this.credentials, ...json, ...more.headers }, body })
  }

  ticket(clOrderId: string, more: object = {}): object {
    const { accountId: account_id } = this
    const order = { broker: 'SANDBOX', side: 'BUY', order_type: 'LMT', order_tif: 'DAY', symbol: 'SPY', order_qty: '10' }
    return { account_id, ...order, order_limit_price: '187.50', cl_order_id: clOrderId, ...more }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
  }
}

async function newPlatform(store: SqlStore): Promise<{ readonly platform: Platform; readonly clientSecret: string }> {
  const platform = make.platform()
  const clientSecret = ids.secret('sk_')
  await store.platforms.create(platform, HASHER.hash(clientSecret), make.audit())
  return { platform, clientSecret }
}

/** The request that the listener between nodes is sent next. */
export async function nextPassedOn(node: TestNode): Promise<readonly [IncomingMessage, ServerResponse]> {
  return await new Promise(resolve => {
    node.onPassedOn = (request, response) => resolve([request, response])
  })
}

/** Resolves when the response is closed. */
export async function closed(response: ServerResponse): Promise<void> {
  if (!response.destroyed) await once(response, 'close')
}
