// Several members on a real PostgreSQL in virtual time, which is the database's clock too. Nodes can be paused as by SIGSTOP, killed, and
// cut from the database.
import assert from 'node:assert/strict'
import { type NodeId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, type Partition } from '@trunkline/core/domain/partition'
import type { Log } from '@trunkline/core/ports/log'
import { createDatabase, type PostgresServer, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { Client } from 'pg'
import { type Connect, LeaseDatabase } from '../../../src/cluster/members/lease-database.ts'
import { LEASE_TIMING, LeaseKeeper } from '../../../src/cluster/members/lease-keeper.ts'
import { ClusterMember, MEMBER_DEFAULTS } from '../../../src/cluster/members/member.ts'
import type { Notice, Request } from '../../../src/cluster/members/messages.ts'
import { SharedLease } from '../../../src/cluster/members/shared-lease.ts'
import { openStore } from '../../../src/store/index.ts'
import { testDeps } from '../../store/deps.ts'

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** Names are looked up in `virtual` before `pg_catalog`, so that the functions of the schema have the virtual clock. */
const VIRTUAL_CLOCK = `
  create schema virtual;
  create function virtual.clock_timestamp() returns timestamptz language sql volatile as
    $$ select to_timestamp(current_setting('virtual.ms')::float8 / 1000) $$;
  create table virtual.writes (id bigserial primary key, partition int not null, fence bigint not null)`
const SEARCH_PATH = '-c search_path=virtual,public,pg_catalog -c synchronous_commit=off'

export function userOf(partition: Partition): UserKey {
  return parseUuid<UserKey>(`0192f0c1-7a3e-7b52-9c1d-3f5a9b7e11${partition.toString(16).padStart(2, '0')}`, 'user key')
}

/** A cluster's database with the newest schema, for the scenes of a test file, one after another. */
export class SceneDatabase implements AsyncDisposable {
  readonly url: string
  readonly #ends: readonly (() => Promise<void>)[]

  private constructor(url: string, ends: readonly (() => Promise<void>)[]) {
    this.url = url
    this.#ends = ends
  }

  static async open(): Promise<SceneDatabase> {
    const server: PostgresServer = await sharedPostgres()
    const database = await createDatabase(server.url)
    const store = await openStore({ kind: 'postgres', url: database.url, poolMax: 2, ownerUrl: null }, testDeps())
    await store[Symbol.asyncDispose]()
    const opened = new SceneDatabase(database.url, [() => database.drop(), () => server.stop()])
    await using client = await opened.client()
    await client.query(VIRTUAL_CLOCK)
    return opened
  }

  /** Empty of members; all partitions are free, with fence 0. */
  async reset(): Promise<void> {
    await using client = await this.client()
    await client.query('delete from members')
    await client.query('update partitions set owner = null, fence = 0, claimed_at = null')
    await client.query('truncate virtual.writes')
  }

  async client(): Promise<Client & AsyncDisposable> {
    const url = new URL(this.url)
    url.searchParams.set('options', SEARCH_PATH)
    const client = new Client({ connectionString: url.href })
    client.on('error', () => undefined)
    await client.connect()
    return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends) await end()
  }
}

export interface SceneOptions {
  /** Of each statement, and of each answer. */
  readonly latencyMs?: () => number
  /** How long the work for partitions takes to end. */
  readonly releaseMs?: () => number
}

export class Scene implements AsyncDisposable {
  readonly clock = new VirtualClock()
  readonly database: SceneDatabase
  options: SceneOptions
  readonly nodes: SceneNode[] = []
  /** Added to the database's clock. */
  skewMs = 0
  readonly #working = new Set<Promise<unknown>>()
  readonly #observer: Client & AsyncDisposable

  private constructor(database: SceneDatabase, options: SceneOptions, observer: Client & AsyncDisposable) {
    this.database = database
    this.options = options
    this.#observer = observer
    this.clock.restWith(async () => {
      if (this.#working.size === 0) return false
      await Promise.race(this.#working)
      return true
    })
  }

  static async open(database: SceneDatabase, options: SceneOptions = {}): Promise<Scene> {
    await database.reset()
    return new Scene(database, options, await database.client())
  }

  /** The database's clock. */
  get databaseMs(): number {
    return Date.UTC(2026, 0, 5, 15) + this.clock.monotonicMs() + this.skewMs
  }

  /** Work outside the event loop, which time waits for. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    const working = work()
    const settled = working.then(
      () => undefined,
      () => undefined
    )
    this.#working.add(settled)
    void settled.then(() => this.#working.delete(settled))
    return working
  }

  /** A node that has joined. */
  async join(name: string): Promise<SceneNode> {
    const node = this.add(name)
    await this.clock.until(() => node.isStarted || node.lost !== null, `${name} has joined`, 20_000)
    return node
  }

  /** A node that begins to join. */
  add(name: string): SceneNode {
    const node = new SceneNode(this, name)
    this.nodes.push(node)
    return node
  }

  /** What the database announces reaches the nodes that it can reach. */
  announce(): void {
    for (const node of this.nodes) node.announced()
  }

  async partitions(): Promise<readonly { readonly owner: NodeId | null; readonly fence: number }[]> {
    const { rows } = await this.#observer.query<{ owner: NodeId | null; fence: string }>(
      'select owner, fence from partitions order by partition'
    )
    return rows.map(({ owner, fence }) => ({ owner, fence: Number(fence) }))
  }

  async query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    await this.#observer.query(`select set_config('virtual.ms', $1, false)`, [String(this.databaseMs)])
    const { rows } = await this.#observer.query<Row>(text, [...values])
    return rows
  }

  /** What a node takes for its own is its own in the database, with the same fence. */
  async check(): Promise<void> {
    const rows = await this.partitions()
    for (const node of this.nodes) {
      if (node.isPaused) continue
      for (const partition of ALL_PARTITIONS) {
        const fence = node.member.fenceOf(userOf(partition))
        if (node.member.ownerOf(userOf(partition)).kind === 'this') assert.notEqual(fence, null)
        if (fence === null) continue
        const row = rows[partition]
        assert.deepEqual(row, { owner: node.nodeId, fence }, `${node.name} takes partition ${partition} for its own`)
      }
    }
  }

  /** How many partitions each node owns, by name. */
  async shares(): Promise<Readonly<Record<string, number>>> {
    const rows = await this.partitions()
    const of = (node: SceneNode) => rows.filter(({ owner }) => owner === node.nodeId).length
    return Object.fromEntries(this.nodes.map(node => [node.name, of(node)]))
  }

  /** What became of each node, for messages. */
  get description(): string {
    return JSON.stringify(
      this.nodes.map(({ name, isStarted, isDead, isCut, isPaused, lost, lostAtMs, owned }) => ({
        ...{ name, isStarted, isDead, isCut, isPaused, lost, lostAtMs },
        owned: owned.length
      }))
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) node.kill()
    await this.clock.advance(10_000)
    await this.#observer[Symbol.asyncDispose]()
  }
}

/** What a node gained, in the order in which it was gained. */
export interface Gain {
  readonly partition: Partition
  readonly fence: number
  readonly atMs: number
}

export class SceneNode {
  readonly name: string
  readonly nodeId: NodeId
  readonly member: ClusterMember
  readonly gains: Gain[] = []
  readonly releases: Partition[] = []
  /** How often it claimed something. */
  claims = 0
  /** Why it lost its lease. */
  lost: string | null = null
  lostAtMs: number | null = null
  isStarted = false
  isDead = false
  /** Whether no answer of the database arrives, and no statement gets there. */
  isCut = false
  /** Whether the database refuses connections, as during its restart. */
  isRefused = false
  /** Whether the database announces changes to it. */
  isAnnouncedTo = true
  readonly #scene: Scene
  readonly #lease = new SharedLease()
  #resumed: PromiseWithResolvers<void> | null = null
  #unblocked: PromiseWithResolvers<void> | null = null
  #keeper: LeaseKeeper | null = null
  #onChanged: () => void = () => undefined

  constructor(scene: Scene, name: string) {
    this.#scene = scene
    this.name = name
    this.nodeId = parseUuid<NodeId>(`0192f0c1-7a3e-7b52-9c1d-${(scene.nodes.length + 1).toString(16).padStart(12, '0')}`, 'node')
    const { clock } = scene
    this.member = new ClusterMember(
      {
        ...{ nodeId: this.nodeId, leaseMs: LEASE_TIMING.leaseMs, ...MEMBER_DEFAULTS },
        onLost: cause => this.#onLost(cause)
      },
      {
        ...{ clock, log: quiet, lease: this.#lease, nowMs: () => clock.monotonicMs(), onWallClock: () => undefined },
        startKeeper: post => this.#startKeeper(post)
      }
    )
    this.member.listen({
      gained: partitions => {
        const atMs = clock.monotonicMs()
        for (const partition of partitions) this.gains.push({ partition, fence: this.member.fenceOf(userOf(partition)) ?? -1, atMs })
      },
      release: async partitions => {
        this.releases.push(...partitions)
        await this.#pausable(() => clock.sleep(scene.options.releaseMs?.() ?? 0))
      }
    })
    this.member.start().then(
      () => {
        this.isStarted = true
      },
      cause => this.#onLost(cause)
    )
  }

  get isPaused(): boolean {
    return this.#resumed !== null
  }

  /** As by SIGSTOP: both threads stop; what is on its way to the database still gets there. */
  pause(): void {
    this.#resumed ??= Promise.withResolvers()
  }

  resume(): void {
    this.#resumed?.resolve()
    this.#resumed = null
  }

  /** As by a long calculation: the thread that keeps the lease is not blocked. */
  blockMain(): void {
    this.#unblocked ??= Promise.withResolvers()
  }

  unblockMain(): void {
    this.#unblocked?.resolve()
    this.#unblocked = null
  }

  /** As by SIGKILL. */
  kill(): void {
    this.isDead = true
    this.resume()
    this.#keeper?.abort()
  }

  /** Partitions that this node takes for its own. */
  get owned(): readonly Partition[] {
    return ALL_PARTITIONS.filter(partition => this.member.ownerOf(userOf(partition)).kind === 'this')
  }

  announced(): void {
    if (this.isDead || this.isCut || !this.isAnnouncedTo) return
    void this.#pausable(async () => this.#onChanged())
  }

  #onLost(cause: Error): void {
    this.lost ??= cause.message
    this.lostAtMs ??= this.#scene.clock.monotonicMs()
  }

  #startKeeper(post: (notice: Notice) => void) {
    const { clock } = this.#scene
    const keeper = new LeaseKeeper({
      database: new LeaseDatabase(
        { nodeId: this.nodeId, url: `http://${this.name}`, name: this.name },
        LEASE_TIMING.leaseMs,
        this.#connect()
      ),
      lease: this.#lease,
      clock: { nowMs: () => clock.monotonicMs(), sleep: (ms, signal) => this.#pausable(() => clock.sleep(ms, signal)) },
      timing: LEASE_TIMING,
      post: notice => void this.#pausable(async () => await this.#unblocked?.promise).then(() => this.isDead || post(notice))
    })
    this.#keeper = keeper
    void keeper.run()
    return {
      request: (request: Request) => {
        if (request.kind === 'claim') this.claims += 1
        keeper.request(request)
      },
      abort: async () => keeper.abort()
    }
  }

  /** Its result is not seen before the node is resumed. */
  async #pausable<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      while (this.#resumed !== null) await this.#resumed.promise
    }
  }

  #connect(): Connect {
    return async onChanged => {
      if (this.isRefused) throw new Error('connect ECONNREFUSED')
      const client = await this.#scene.work(() => this.#scene.database.client())
      this.#onChanged = onChanged
      return {
        query: <Row extends object>(text: string, values: readonly unknown[]) =>
          this.#pausable(() => this.#query<Row>(client, text, values)),
        close: () => void this.#scene.work(() => client.end()).catch(() => undefined)
      }
    }
  }

  async #query<Row extends object>(client: Client, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const { clock } = this.#scene
    const latencyMs = this.#scene.options.latencyMs?.() ?? 0
    if (latencyMs > 0) await clock.sleep(latencyMs)
    const silent = async () => {
      await clock.sleep(1_000)
      throw new Error('Query read timeout')
    }
    if (this.isRefused) throw new Error('Connection terminated unexpectedly')
    if (this.isCut) return silent()
    const rows = await this.#scene.work(async () => {
      await client.query(`select set_config('virtual.ms', $1, false)`, [String(this.#scene.databaseMs)])
      return (await client.query<Row>(text, [...values])).rows
    })
    if (!text.includes('renew_lease')) this.#scene.announce()
    if (latencyMs > 0) await clock.sleep(latencyMs)
    return this.isCut ? silent() : rows
  }
}
