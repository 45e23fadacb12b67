/** What clients see when nodes stop, are drained, join, are killed, or freeze: under a steady load through all nodes. */

import { setTimeout as pause } from 'node:timers/promises'
import { PARTITIONS } from '../../../packages/core/src/domain/partition.ts'
import { InvalidOptions } from '../../harness/errors.ts'
import type { ConnectedUser } from '../../harness/stage.ts'
import { line, spreadOf } from '../../harness/stats.ts'
import { until } from '../../harness/wait.ts'
import { type ClusterStage, openCluster } from '../stage.ts'
import { DirectOrders } from './direct.ts'
import { Follower } from './follower.ts'
import { Load } from './load.ts'
import { ClusterTables, type Owners } from './owners.ts'

const NODES = 3
const USERS = 16
/** Orders placed at the broker itself. */
const DIRECT_PER_SECOND = 4
/** After a start, its code is not compiled yet. */
const WARM_MS = 2_000
const AFTER_MS = 1_000
/** A node that joins gets its share in steps of up to half a second, and begins after two seconds. */
const STILL_MS = 1_500
const PATIENCE_S = 180

const MOVES = ['stop', 'join', 'drain', 'kill', 'freeze'] as const
type Kind = (typeof MOVES)[number]
const GRACEFUL: ReadonlySet<Kind> = new Set<Kind>(['stop', 'join', 'drain'])
const TARGET_MS = { graceful: 500, other: 5_000 }

/** One move. Times are in milliseconds from its begin. */
interface Move {
  readonly kind: Kind
  readonly moved: number
  /** The longest wait of a request by a user who moved, and by another. */
  readonly moving: number
  readonly others: number
  /** How long an account stream was off at most. */
  readonly live: number
  /** The longest that an order at the broker took to reach a session on another node. */
  readonly update: number
  readonly requests: number
  readonly failures: readonly string[]
}

export async function moves(options: {
  readonly rounds: number
  readonly kinds: string
  readonly rate: number
  readonly logs: string | null
}): Promise<void> {
  const kinds = options.kinds.split(',').map(kindOf)
  await using stage = await openCluster(NODES, { logs: options.logs })
  const users: ConnectedUser[] = []
  for (let index = 0; index < USERS; index += 1) users.push(await stage.user())
  await using scene = await Scene.open(stage, users, options.rate)
  const found: Move[] = []
  for (let round = 0; round < options.rounds; round += 1) {
    for (const kind of kinds.filter(one => one !== 'join')) {
      const victim = (round + kinds.indexOf(kind)) % NODES
      found.push(await scene.move(kind, victim))
      if (kind === 'drain') await scene.stop(victim)
      const joined = await scene.move('join', victim)
      if (kinds.includes('join') && kind !== 'freeze') found.push(joined)
    }
    if (kinds.every(kind => kind === 'join')) {
      await scene.stop(round % NODES)
      found.push(await scene.move('join', round % NODES))
    }
  }
  for (const kind of kinds)
    process.stdout.write(
      `${linesOf(
        kind,
        found.filter(move => move.kind === kind)
      ).join('\n')}\n`
    )
}

function kindOf(text: string): Kind {
  const kind = MOVES.find(one => one === text)
  if (kind === undefined) throw new InvalidOptions(`--kinds takes ${MOVES.join(', ')}`)
  return kind
}

/** The cluster with its clients. */
class Scene implements AsyncDisposable {
  readonly #stage: ClusterStage
  readonly #users: readonly ConnectedUser[]
  readonly #tables: ClusterTables
  readonly #load: Load
  readonly #direct: DirectOrders
  /** By node; null while it does not run. */
  readonly #followers: (Follower | null)[] = []
  readonly #urls: (string | null)[]

  private constructor(stage: ClusterStage, users: readonly ConnectedUser[], tables: ClusterTables, direct: DirectOrders) {
    this.#stage = stage
    this.#users = users
    this.#tables = tables
    this.#direct = direct
    this.#urls = stage.nodes.map(({ platform }) => platform.baseUrl)
    this.#load = new Load(() => this.#urls, users)
  }

  static async open(stage: ClusterStage, users: readonly ConnectedUser[], rate: number): Promise<Scene> {
    const tables = await ClusterTables.open(stage.databaseUrl)
    const scene = new Scene(stage, users, tables, await DirectOrders.open(stage, users))
    for (let index = 0; index < NODES; index += 1) scene.#followers[index] = await scene.#follower(index)
    scene.#load.start(rate)
    scene.#direct.start(DIRECT_PER_SECOND)
    await pause(3 * WARM_MS)
    return scene
  }

  async move(kind: Kind, node: number): Promise<Move> {
    await pause(WARM_MS)
    await this.#load.settled()
    this.#load.forget()
    this.#direct.forget()
    for (const follower of this.#running) follower.forget()
    const before = await this.#tables.owners()
    const begun = performance.now()
    const pid = await this.#begin(kind, node, before)
    const after = await this.#moved(kind, before)
    const moved = new Set(
      this.#users.flatMap(({ username }, index) => (before.nodeOf.get(username) === after.nodeOf.get(username) ? [] : [index]))
    )
    await until(
      'the account streams are open',
      PATIENCE_S,
      async () => this.#streamsOff(kind, moved, begun, node) < Number.POSITIVE_INFINITY
    )
    await pause(AFTER_MS)
    await this.#load.settled()
    const move = this.#judged(kind, node, moved, begun)
    await this.#finish(kind, node, pid)
    process.stderr.write(`${JSON.stringify(move)}\n`)
    return move
  }

  /** Stops a node without measuring. */
  async stop(node: number): Promise<void> {
    const { pid } = this.#node(node).service
    this.#urls[node] = null
    process.kill(pid, 'SIGTERM')
    await this.#finish('stop', node, pid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#direct.stop()
    await this.#load.stop()
    for (const follower of this.#running) follower[Symbol.dispose]()
    await this.#tables[Symbol.asyncDispose]()
  }

  /** The process that it is about. */
  async #begin(kind: Kind, node: number, before: Owners): Promise<number> {
    if (kind === 'join') {
      await this.#stage.restart(node)
      this.#followers[node] = await this.#follower(node)
      this.#urls[node] = this.#node(node).platform.baseUrl
      return 0
    }
    const { pid } = this.#node(node).service
    if (kind === 'drain') await this.#tables.drain(before.nodes.get(pid) ?? '')
    if (kind === 'stop') process.kill(pid, 'SIGTERM')
    // A balancer knows that these are gone; what was on its way is its client's loss, and not counted.
    if (kind === 'kill' || kind === 'freeze') this.#urls[node] = null
    if (kind === 'kill') process.kill(pid, 'SIGKILL')
    if (kind === 'freeze') process.kill(pid, 'SIGSTOP')
    return pid
  }

  /** Resolves when every user has an owner, and no more has moved for some time. */
  async #moved(kind: Kind, before: Owners): Promise<Owners> {
    const nodes = kind === 'join' ? NODES : NODES - 1
    let [seen, sinceMs] = [before, performance.now()]
    await until(`the users after "${kind}" have owners`, PATIENCE_S, async () => {
      const now = await this.#tables.owners()
      if (!isSame(seen, now)) [seen, sinceMs] = [now, performance.now()]
      const owned = [...now.partitions.values()].reduce((sum, count) => sum + count, 0)
      return owned === PARTITIONS && now.partitions.size === nodes && !isSame(before, now) && performance.now() - sinceMs > STILL_MS
    })
    return seen
  }

  async #finish(kind: Kind, node: number, pid: number): Promise<void> {
    if (kind === 'join' || kind === 'drain') return
    if (kind === 'freeze') process.kill(pid, 'SIGCONT')
    await until('the node has ended', PATIENCE_S, async () => !isRunning(pid))
    this.#urls[node] = null
    this.#followers[node]?.[Symbol.dispose]()
    this.#followers[node] = null
  }

  #judged(kind: Kind, node: number, moved: ReadonlySet<number>, begun: number): Move {
    const isLost = kind === 'kill' || kind === 'freeze'
    const asked = this.#load.between(begun, performance.now()).filter(one => !isLost || one.node !== node)
    const longest = (isMoving: boolean) => Math.max(0, ...asked.flatMap(one => (moved.has(one.user) === isMoving ? [one.waitedMs] : [])))
    const others = this.#others(node)
    // The newest may still be on their way.
    const until_ = performance.now() - AFTER_MS / 2
    const update = Math.max(0, ...others.flatMap(follower => this.#direct.delays(follower, moved, begun, until_)))
    const failures = asked.flatMap(({ failure }) => (failure === '' ? [] : [failure]))
    const live = this.#streamsOff(kind, moved, begun, node)
    const shown = { moving: longest(true), others: longest(false), live, update }
    const rounded = Object.fromEntries(Object.entries(shown).map(([name, ms]) => [name, Math.round(ms)]))
    return { kind, moved: moved.size, ...shown, ...rounded, requests: asked.length, failures }
  }

  /** For how long an account stream of these users was off at most, as was reported to sessions of other nodes; infinite: one still is. */
  #streamsOff(kind: Kind, moved: ReadonlySet<number>, begun: number, node: number): number {
    const names = [...moved].map(index => this.#users[index]?.username ?? '')
    const times = this.#others(node).flatMap(({ lostAt, liveAt }) =>
      // A node that dies sends no notice.
      names.map(name => (liveAt.get(name) ?? Number.POSITIVE_INFINITY) - (GRACEFUL.has(kind) ? (lostAt.get(name) ?? begun) : begun))
    )
    return Math.max(0, ...times)
  }

  #others(node: number): readonly Follower[] {
    return this.#followers.flatMap((follower, index) => (follower === null || index === node ? [] : [follower]))
  }

  get #running(): readonly Follower[] {
    return this.#others(-1)
  }

  #follower(node: number): Promise<Follower> {
    return Follower.open(this.#node(node).platform.baseUrl, this.#users)
  }

  #node(index: number): ClusterStage['nodes'][number] {
    const node = this.#stage.nodes[index]
    if (node === undefined) throw new Error(`there is no node ${index}`)
    return node
  }
}

function isSame({ partitions: a }: Owners, { partitions: b }: Owners): boolean {
  return a.size === b.size && [...a].every(([nodeId, count]) => b.get(nodeId) === count)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function linesOf(kind: Kind, found: readonly Move[]): readonly string[] {
  const target = GRACEFUL.has(kind) ? TARGET_MS.graceful : TARGET_MS.other
  const of = (name: 'moving' | 'others' | 'live' | 'update') => {
    const { median, p99 } = spreadOf(found.map(move => move[name]))
    return { text: `${median.toFixed(0)}, ${p99.toFixed(0)} ms`, isReached: p99 <= target }
  }
  const failures = Map.groupBy(
    found.flatMap(move => move.failures),
    failure => failure
  )
  const codes = [...failures].map(([failure, all]) => `${all.length} × ${failure}`).join(', ')
  const requests = found.reduce((sum, move) => sum + move.requests, 0)
  const most = `at most ${target} ms`
  return [
    line(`${kind}, ${found.length} times: longest wait of a moving user, median, 99 %`, of('moving').text, most, of('moving').isReached),
    line('… of another user', of('others').text, '', null),
    line('… until an account stream is open again', of('live').text, most, of('live').isReached),
    line('… longest way of an order at the broker to a session elsewhere', of('update').text, '', null),
    line(`… failed of ${requests} requests`, codes === '' ? '0' : codes, 'none', codes === '')
  ]
}
