import { type Connection, type ConnectionHealth, isSameHealth } from '@trunkline/core/domain/account'
import type { ConnectionId, NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'
import type { Following } from './following.ts'
import { ASKED_USERS_MAX, type HealthAnswer, type HealthQuestion, type UserHealth } from './health-message.ts'

/** How often owners are asked what has changed: a message that says so may be lost. */
const EVERY_MS = 1_500

export interface HealthElsewhereDeps {
  readonly nodeId: NodeId
  readonly following: Pick<Following, 'owners' | 'follows'>
  readonly ownership: Pick<Ownership, 'ownerOf'>
  readonly clock: Pick<Clock, 'sleep'>
  readonly log: Log
  readonly ask: (node: OwnerNode, question: HealthQuestion) => Promise<HealthAnswer>
  /** The health of a connection of a user whom this node follows is another than it knew. */
  readonly changed: (changed: UserHealth) => void
}

/** What one owner has reported. */
interface Reports {
  /** Up to this change, in its count. */
  until: number
  /** Users of whom it has not reported everything. */
  readonly unknown: Set<UserKey>
  asking: Promise<void> | null
  isToBeAsked: boolean
}

/**
 * The health of connections of users whom this node follows and others own. Only the owner knows it, so it is asked: at once for a user who
 * is followed from now on or was reported to have changed, and at intervals. Nothing that another node or a recording says counts.
 */
export class HealthElsewhere {
  readonly #deps: HealthElsewhereDeps
  readonly #known = new Map<UserKey, Map<ConnectionId, ConnectionHealth>>()
  readonly #reports = new Map<NodeId, Reports>()
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null

  constructor(deps: HealthElsewhereDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await Promise.all([...this.#reports.values()].map(({ asking }) => asking))
  }

  /** Null: the owner has not reported it yet. */
  of({ userKey, connectionId }: Pick<Connection, 'userKey' | 'connectionId'>): ConnectionHealth | null {
    return this.#known.get(userKey)?.get(connectionId) ?? null
  }

  /** The owner has taken that this node follows these users: it is asked for all that it knows of them. */
  followed(node: OwnerNode, users: readonly UserKey[]): void {
    const { unknown } = this.#reportsOf(node)
    for (const userKey of users) unknown.add(userKey)
    this.#ask(node)
  }

  /** Something has changed for the user, somebody says. */
  suspect(userKey: UserKey): void {
    const owner = this.#deps.ownership.ownerOf(userKey)
    if (owner.kind === 'other' && this.#deps.following.follows(userKey)) this.#ask(owner.node)
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#deps.clock.sleep(EVERY_MS, signal).catch(() => undefined)
      this.#forget()
      for (const node of this.#deps.following.owners) if (!signal.aborted) this.#ask(node)
    }
  }

  /** Users whom nobody follows here any more or whom this node owns, and nodes that own none of those who are followed. */
  #forget(): void {
    const { following, ownership } = this.#deps
    for (const userKey of this.#known.keys())
      if (!following.follows(userKey) || ownership.ownerOf(userKey).kind === 'this') this.#known.delete(userKey)
    const owners = new Set(following.owners.map(({ nodeId }) => nodeId))
    for (const nodeId of this.#reports.keys()) if (!owners.has(nodeId)) this.#reports.delete(nodeId)
  }

  #reportsOf({ nodeId }: OwnerNode): Reports {
    const reports = this.#reports.get(nodeId) ?? { until: 0, unknown: new Set(), asking: null, isToBeAsked: false }
    this.#reports.set(nodeId, reports)
    return reports
  }

  /** A node is asked one question at a time. */
  #ask(node: OwnerNode): void {
    const reports = this.#reportsOf(node)
    reports.isToBeAsked = true
    reports.asking ??= this.#askAll(node, reports)
  }

  /** Never rejects: a node that does not answer is asked again at the next interval. */
  async #askAll(node: OwnerNode, reports: Reports): Promise<void> {
    const { ask, log, nodeId } = this.#deps
    while (reports.isToBeAsked && !this.#stopping.signal.aborted) {
      reports.isToBeAsked = false
      const users = this.#unknownAt(node, reports)
      // A user who is added while the node answers may not be in the answer.
      for (const userKey of users) reports.unknown.delete(userKey)
      try {
        const answer = await ask(node, { nodeId, after: reports.until, users })
        reports.until = answer.until
        for (const each of answer.known) this.#take(node, reports, each)
        if (answer.isCut || users.length === ASKED_USERS_MAX) reports.isToBeAsked = true
      } catch (cause) {
        for (const userKey of users) reports.unknown.add(userKey)
        log.debug('another node did not report the health of connections', { node: node.nodeId, cause })
        break
      }
    }
    // In the same turn: a question that comes from now on is asked again.
    reports.asking = null
  }

  #unknownAt(node: OwnerNode, { unknown }: Reports): readonly UserKey[] {
    const users: UserKey[] = []
    for (const userKey of unknown) {
      if (!this.#deps.following.follows(userKey)) unknown.delete(userKey)
      else if (this.#isOwner(node, userKey) && users.push(userKey) === ASKED_USERS_MAX) break
    }
    return users
  }

  #take(node: OwnerNode, { unknown }: Reports, reported: UserHealth): void {
    const { userKey, connectionId, health } = reported
    if (!this.#deps.following.follows(userKey)) return
    // It may be the owner again, and then reports no change a second time.
    if (!this.#isOwner(node, userKey)) return void unknown.add(userKey)
    const known = this.#known.get(userKey) ?? new Map<ConnectionId, ConnectionHealth>()
    this.#known.set(userKey, known)
    if (isSameHealth(known.get(connectionId), health)) return
    known.set(connectionId, health)
    this.#deps.changed(reported)
  }

  #isOwner({ nodeId }: OwnerNode, userKey: UserKey): boolean {
    const owner = this.#deps.ownership.ownerOf(userKey)
    return owner.kind === 'other' && owner.node.nodeId === nodeId
  }
}
