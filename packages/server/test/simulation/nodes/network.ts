// The network between the nodes of a simulation: what they pass on and send each other is late, or lost with a node or its answer.
import type { AppDeps } from '@trunkline/core/app/application'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { BusMessage } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import { NodeFault } from '../../../src/cluster/forward/node-client.ts'
import type { Chance } from '../chance.ts'
import type { Trace } from '../trace.ts'
import type { SceneNode } from './scene-node.ts'

/** A request that a node passes on: `carryOut` gives the number under which the node that asks finds what came of it. */
export interface Ask {
  readonly userKey: UserKey
  readonly carryOut: (app: AppDeps) => Promise<number>
}

const CONNECT_MS = 2_000
/** How long an answer is waited for that never comes. */
const ANSWER_MS = 65_000
const TRAVEL_MS_MAX = 200

export class Network {
  /** When a message of the bus arrives; null: never. */
  busDelay: () => number | null = () => 0
  readonly #clock: Clock
  readonly #chance: Chance
  readonly #trace: Trace
  readonly #nodes = new Map<NodeId, SceneNode>()
  readonly #asks = new Map<string, Ask>()
  /** When the last message of the bus arrives, by the two nodes. */
  readonly #lastAt = new Map<string, number>()

  constructor({ clock, chance, trace }: { readonly clock: Clock; readonly chance: Chance; readonly trace: Trace }) {
    this.#clock = clock
    this.#chance = chance
    this.#trace = trace
  }

  add(node: SceneNode): void {
    this.#nodes.set(node.nodeId, node)
  }

  /** The processes that were not killed. */
  get living(): readonly SceneNode[] {
    return [...this.#nodes.values()].filter(({ life }) => !life.isOver)
  }

  nameOf(nodeId: NodeId | null): string {
    return nodeId === null ? 'no node' : (this.#nodes.get(nodeId)?.name ?? 'an unknown node')
  }

  /** Gives the address under which the node that is asked finds it. */
  register(ask: Ask): string {
    const url = `/asks/${this.#asks.size + 1}`
    this.#asks.set(url, ask)
    return url
  }

  asked(url: string): Ask {
    const ask = this.#asks.get(url)
    if (ask === undefined) throw new Error(`nobody asked for ${url}`)
    return ask
  }

  met(what: string, kind: string): void {
    this.#trace.note(what)
    this.#trace.met(kind)
  }

  /** What the other node gives. @throws NodeFault */
  async send<T>(from: SceneNode, to: NodeId, take: (node: SceneNode) => Promise<T>, signal: AbortSignal): Promise<T> {
    return await from.life.lived(this.#carried(from, to, take, signal))
  }

  /** A message of the bus to all other nodes, in the order in which one sends them. */
  carry(from: SceneNode, message: BusMessage): void {
    for (const to of this.living) {
      if (to === from) continue
      const afterMs = areConnected(from, to) ? this.busDelay() : null
      if (afterMs === null) this.#trace.met('nodes: a message is lost')
      else this.#deliver(from, to, message, afterMs)
    }
  }

  #deliver(from: SceneNode, to: SceneNode, message: BusMessage, afterMs: number): void {
    const pair = `${from.nodeId} ${to.nodeId}`
    const now = this.#clock.monotonicMs()
    const at = Math.max(now + afterMs, this.#lastAt.get(pair) ?? 0)
    this.#lastAt.set(pair, at)
    const travelled = at > now ? this.#clock.sleep(at - now) : Promise.resolve()
    void travelled.then(() => to.life.whenRunning(() => to.bus.arrive(message)))
  }

  async #carried<T>(from: SceneNode, to: NodeId, take: (node: SceneNode) => Promise<T>, signal: AbortSignal): Promise<T> {
    const node = this.#nodes.get(to)
    if (node === undefined || node.life.isOver) throw new NodeFault('nothing', 'the connection was refused')
    if (!areConnected(from, node)) {
      await this.#clock.sleep(CONNECT_MS)
      // An open connection that broke has proven nothing.
      throw new NodeFault(this.#chance.happens(0.5) ? 'nothing' : 'maybe', 'the node was not reached')
    }
    if (this.#chance.happens(0.2)) await this.#clock.sleep(this.#chance.whole(1, TRAVEL_MS_MAX))
    if (node.life.isOver) throw new NodeFault('nothing', 'the connection was refused')
    const over = AbortSignal.any([signal, node.life.death])
    const answer = await unless(over, node.life.lived(node.life.running().then(() => take(node))))
    if (!areConnected(from, node)) return await unless(signal, this.#noAnswer())
    return answer
  }

  async #noAnswer(): Promise<never> {
    await this.#clock.sleep(ANSWER_MS)
    throw new NodeFault('maybe', 'no answer came')
  }
}

function areConnected(a: SceneNode, b: SceneNode): boolean {
  return !a.life.isCutFromNodes && !b.life.isCutFromNodes
}

function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new NodeFault('maybe', 'given up, or the node died'))
    if (signal.aborted) return end()
    signal.addEventListener('abort', end, { once: true })
    const done = () => signal.removeEventListener('abort', end)
    work.finally(done).then(resolve, reject)
  })
}
