// What a life of the service needs to be a node: its place in the network, its leases, and those who watch it.
import { type NodeId, parseUuid, type UserId, type UserKey } from '@trunkline/core/domain/ids'
import type { BrokerDefinition, CredentialsHolder } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { CorrectableClock } from '../../../src/cluster/shared-wall-clock.ts'
import type { Chance } from '../chance.ts'
import type { Life } from '../life.ts'
import type { Scene } from '../scene.ts'
import { TIMING } from '../service.ts'
import type { NodesDatabase } from '../stores.ts'
import { NodesJudge } from './judge.ts'
import { LeaseLink } from './lease-link.ts'
import { Leases } from './leases.ts'
import { Network } from './network.ts'
import { SceneNode } from './scene-node.ts'

/** How long a command may wait in a node for its turn at the broker. */
const QUEUED_MS_MAX = 5_000

interface Opening {
  readonly life: Life
  readonly clock: Clock
  readonly wallClock: CorrectableClock
  readonly log: Log
  readonly fence: (fence: number | null) => number | null
}

/** What all nodes of a scene share. */
export class Nodes {
  readonly network: Network
  readonly leases: Leases
  readonly #scene: Scene
  readonly #database: NodesDatabase
  readonly #chance: Chance
  readonly #judge: NodesJudge
  readonly #senders = new WeakMap<CredentialsHolder, NodeId>()
  readonly #names: ReadonlyMap<UserKey, UserId>
  readonly #links: LeaseLink[] = []

  constructor(scene: Scene, database: NodesDatabase, fail: (cause: unknown) => void) {
    const { clock, trace, chance, owners, logins } = scene
    this.#scene = scene
    this.#database = database
    this.#chance = chance.apart('nodes')
    this.network = new Network({ clock, trace, chance: chance.apart('network') })
    this.leases = new Leases(clock)
    this.leases.announce = () => {
      for (const link of this.#links) link.announced()
    }
    this.#names = new Map(owners.map(({ user }) => [user.userKey, user.userId]))
    const failed = (cause: Error) => {
      trace.note(cause.message)
      fail(cause)
    }
    this.#judge = new NodesJudge({ leases: this.leases, nameOf: nodeId => this.network.nameOf(nodeId), fail: failed })
    for (const login of logins) {
      login.broker.onCommand = (command, holder) => {
        const sender = this.#senders.get(holder)
        if (sender !== undefined) this.#judge.sent(login, command, sender)
      }
    }
  }

  /** The kit of the next life of one of the machines. */
  kit(name: string, onLost: () => void): NodeKit {
    return {
      open: opening => this.#open(name, onLost, opening),
      observed: (definition, { nodeId }) => this.#observed(definition, nodeId),
      queued: () => this.#queued()
    }
  }

  #open(name: string, onLost: () => void, { life, clock, wallClock, log, fence }: Opening): SceneNode {
    const { clock: time, store } = this.#scene
    const link = new LeaseLink({
      ...{ life, time, store, leases: this.leases, chance: this.#chance.apart(`${name} ${time.monotonicMs()}`) },
      raise: fences => this.#raise(fences)
    })
    this.#links.push(link)
    return new SceneNode({
      ...{ name, life, clock, wallClock, time, log, link, store, fence, onLost },
      nodeId: this.#nodeId(),
      network: this.network,
      openStore: fenceOf => this.#database.open(fenceOf),
      nameOf: userKey => (this.#chance.happens(0.9) ? (this.#names.get(userKey) ?? null) : null),
      answerWithinMs: TIMING.answerWithinMs,
      wrote: (...write) => this.#judge.wrote(...write)
    })
  }

  /** Only of the users there are: what else moves concerns nobody. */
  async #raise(fences: ReadonlyMap<number, number>): Promise<void> {
    const ours = new Set([...this.#scene.store.users].map(userKey => Number.parseInt(userKey.slice(-2), 16)))
    for (const [partition, fence] of fences) if (ours.has(partition)) await this.#database.raise(partition, fence)
  }

  #observed(definition: BrokerDefinition, nodeId: NodeId): BrokerDefinition {
    return {
      ...definition,
      open: credentials => {
        this.#senders.set(credentials, nodeId)
        return definition.open(credentials)
      }
    }
  }

  async #queued(): Promise<void> {
    if (this.#chance.happens(0.3)) await this.#scene.clock.sleep(this.#chance.whole(1, QUEUED_MS_MAX))
  }

  /** The same in every run of the seed: it decides what the node gets. */
  #nodeId(): NodeId {
    const digits = () => this.#chance.whole(0, 0xffff).toString(16).padStart(4, '0')
    return parseUuid<NodeId>(`0192f0c1-7a3e-7b52-9c1d-${digits()}${digits()}${digits()}`, 'node')
  }
}

export interface NodeKit {
  open(opening: Opening): SceneNode
  /** The broker, which learns which node sends what. */
  observed(definition: BrokerDefinition, node: SceneNode): BrokerDefinition
  /** Resolves when a command's turn has come. */
  queued(): Promise<void>
}
