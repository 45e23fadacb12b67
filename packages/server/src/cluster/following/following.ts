import type { UserWatch } from '@trunkline/core/app/mirror/user-watch'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'

/** How often an owner is sent the users that are followed here. It forgets them when it has not been sent them for three times as long. */
export const FOLLOWED_EVERY_MS = 5_000

type Watch = Pick<UserWatch, 'hold' | 'release'>

export interface FollowingDeps {
  readonly watch: Watch
  readonly ownership: Pick<Ownership, 'ownerOf' | 'changed'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'nextTurn'>
  readonly log: Log
  /** Sends a node the users of it that are followed here, all of them each time. */
  readonly send: (node: OwnerNode, users: readonly UserKey[]) => Promise<void>
  /** The owners publish updates of these users for this node from now on. They may have left out earlier ones. */
  readonly taken: (users: readonly UserKey[], node: OwnerNode) => void
}

/**
 * Follows users wherever they are owned. Holds are local too, so that the work goes on here when this node becomes the owner. Owners are
 * sent the users at intervals, and at once when one is added or an owner changed.
 */
export class Following implements Watch {
  readonly #deps: FollowingDeps
  readonly #users = new Map<UserKey, number>()
  /** Nodes that were sent users, by id: one that none of them belongs to any more is sent an empty list once. */
  #sentTo = new Map<NodeId, OwnerNode>()
  /** What nodes have taken, while they answer. */
  readonly #taken = new Map<NodeId, Set<UserKey>>()
  /** Nodes that have yet to answer. Each is sent one list at a time, so that an older one never replaces a newer one. */
  readonly #sending = new Map<NodeId, Promise<void>>()
  /** Of them, those that have to be sent another list. */
  readonly #behind = new Set<NodeId>()
  #isStopped = false
  #isChanged = false
  /** Whether changes of owners are waited for: once, however often it is woken meanwhile. */
  #isListening = false
  #wake: () => void = () => undefined
  #running: Promise<void> | null = null

  constructor(deps: FollowingDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#wake()
    await this.#running
    await Promise.all(this.#sending.values())
  }

  /** The nodes that have taken which of their users are followed here. */
  get owners(): readonly OwnerNode[] {
    return [...this.#sentTo.values()].filter(({ nodeId }) => this.#taken.has(nodeId))
  }

  follows(userKey: UserKey): boolean {
    return this.#users.has(userKey)
  }

  hold(userKey: UserKey): void {
    this.#deps.watch.hold(userKey)
    const holders = this.#users.get(userKey) ?? 0
    this.#users.set(userKey, holders + 1)
    if (holders > 0 || this.#deps.ownership.ownerOf(userKey).kind === 'this') return
    this.#isChanged = true
    this.#wake()
  }

  release(userKey: UserKey): void {
    this.#deps.watch.release(userKey)
    const holders = this.#users.get(userKey) ?? 0
    if (holders > 1) this.#users.set(userKey, holders - 1)
    else {
      this.#users.delete(userKey)
      // Who follows it again has forgotten what the owner reported, even if the owner was not sent another list meanwhile.
      for (const users of this.#taken.values()) users.delete(userKey)
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#pause()
      // Holds of one turn of the event loop go out together.
      await this.#deps.clock.nextTurn()
      if (!this.#isStopped) this.#send()
    }
  }

  async #pause(): Promise<void> {
    if (this.#isChanged) return
    const woken = new Promise<void>(resolve => {
      this.#wake = resolve
    })
    if (!this.#isListening) void this.#listen()
    await woken
  }

  async #listen(): Promise<void> {
    this.#isListening = true
    await this.#deps.ownership.changed(FOLLOWED_EVERY_MS)
    this.#isListening = false
    this.#isChanged = true
    this.#wake()
  }

  /** Waits for no node: one that does not answer must not keep a new owner from learning of its users. */
  #send(): void {
    this.#isChanged = false
    const lists = new Map<NodeId, { readonly node: OwnerNode; readonly users: UserKey[] }>()
    for (const [nodeId, node] of this.#sentTo) lists.set(nodeId, { node, users: [] })
    for (const userKey of this.#users.keys()) {
      const owner = this.#deps.ownership.ownerOf(userKey)
      if (owner.kind !== 'other') continue
      const { node } = owner
      const list = lists.get(node.nodeId) ?? { node, users: [] }
      list.users.push(userKey)
      lists.set(node.nodeId, list)
    }
    this.#sentTo = new Map()
    for (const [nodeId, { node, users }] of lists) {
      const isSending = this.#sending.has(nodeId)
      if (users.length > 0 || isSending) this.#sentTo.set(nodeId, node)
      if (isSending) this.#behind.add(nodeId)
      else this.#sending.set(nodeId, this.#sendTo(node, users))
    }
  }

  /** A node that does not answer is sent them again at the next interval. Never rejects. */
  async #sendTo(node: OwnerNode, users: readonly UserKey[]): Promise<void> {
    const { send, log } = this.#deps
    const { nodeId } = node
    await send(node, users).then(
      () => this.#tookAll(node, users),
      cause => {
        // By the time it answers again, it may have forgotten them.
        this.#taken.delete(nodeId)
        log.warn('another node could not be sent the users that are followed here', { node: nodeId, cause })
      }
    )
    this.#sending.delete(nodeId)
    if (!this.#behind.delete(nodeId)) return
    this.#isChanged = true
    this.#wake()
  }

  #tookAll(node: OwnerNode, users: readonly UserKey[]): void {
    const { nodeId } = node
    const before = this.#taken.get(nodeId)
    const held = users.filter(userKey => this.#users.has(userKey))
    const added = held.filter(userKey => before?.has(userKey) !== true)
    if (users.length === 0) this.#taken.delete(nodeId)
    else this.#taken.set(nodeId, new Set(held))
    if (added.length > 0) this.#deps.taken(added, node)
  }
}
