// The bus of one node in a simulation of several: its own listeners are called at once and in order, as by `NatsBus`, and what other nodes
// get may be late or lost.

import { LocalBus } from '@trunkline/core/app/local-bus'
import type { UserId, UserKey } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Bus, BusMessage, BusMessageType, UpdateFrame } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { asReceived, isForAll, isForNodes, type NodeMessage, ownersUser, parseMessage } from '../../../src/bus/message-codec.ts'
import { PartitionCounts } from '../../../src/bus/partition-counts.ts'
import type { EncodeUpdate } from '../../../src/stream/account/hub.ts'

export interface NodesBusDeps {
  readonly clock: Clock
  readonly log: Log
  readonly encode: EncodeUpdate
  /** Whether sessions of another node may follow the user. */
  readonly isFollowed: (userKey: UserKey) => boolean
  /** Null: the name of the user has yet to be looked up. */
  readonly nameOf: (userKey: UserKey) => UserId | null
  readonly direct: { toOwner(userKey: UserKey, message: object): void; toAll(message: object): void }
  /** Brings a message to every other node that it reaches. */
  readonly carry: (message: BusMessage) => void
}

export class NodesBus implements Bus {
  readonly #deps: NodesBusDeps
  readonly #local: LocalBus
  readonly #followed = new PartitionCounts(
    partition => this.#begin(partition),
    () => undefined
  )

  constructor(deps: NodesBusDeps) {
    this.#deps = deps
    this.#local = new LocalBus(deps.log)
  }

  publish(message: BusMessage): void {
    this.#local.publish(message)
    if (message.type === 'events') this.#carryUpdates(message.userKey, message.events)
    else if (isForNodes(message)) this.#send(message)
  }

  subscribe(listener: (message: BusMessage) => void, types?: readonly BusMessageType[]): () => void {
    return this.#local.subscribe(listener, types)
  }

  follow(userKey: UserKey): Disposable {
    return this.#followed.follow(partitionOf(userKey))
  }

  /** A message of another node. */
  arrive(message: BusMessage): void {
    if (message.type === 'update_frames' && !this.#followed.partitions.has(partitionOf(message.userKey))) return
    this.#local.publish(isForNodes(message) ? asReceived(message) : message)
  }

  /** What another node sent this one as the owner. @throws Malformed */
  receive(message: unknown): void {
    const parsed = parseMessage(message)
    if (parsed !== 'unknown') this.#local.publish(asReceived(parsed))
  }

  /** Messages of other nodes arrive again. */
  resume(): void {
    this.#local.publish({ type: 'bus_resumed' })
    this.#local.publish({ type: 'partitions_followed', partitions: this.#followed.partitions })
  }

  #send(message: NodeMessage): void {
    const { carry, direct } = this.#deps
    const userKey = ownersUser(message)
    if (userKey !== null) direct.toOwner(userKey, message)
    else if (isForAll(message)) direct.toAll(message)
    carry(message)
  }

  #carryUpdates(userKey: UserKey, events: readonly LoggedEvent[]): void {
    const { carry, isFollowed } = this.#deps
    if (isFollowed(userKey)) carry({ type: 'update_frames', userKey, updates: events.map(event => this.#update(userKey, event)) })
  }

  #update(userKey: UserKey, event: LoggedEvent): UpdateFrame {
    const userId = this.#deps.nameOf(userKey)
    return { seq: event.seq, topic: event.topic, frame: userId === null ? null : this.#deps.encode(event, userId) }
  }

  #begin(partition: Partition): void {
    void this.#deps.clock.nextTurn().then(() => this.#local.publish({ type: 'partitions_followed', partitions: new Set([partition]) }))
  }
}
