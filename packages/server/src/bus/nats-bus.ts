import { LocalBus } from '@trunkline/core/app/local-bus'
import type { UserId, UserKey } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Bus, BusMessage, BusMessageType } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import type { NatsServers } from '../config/nats-servers.ts'
import type { DropReason } from './drop-reasons.ts'
import { Envelope, type Genuine } from './envelope.ts'
import {
  asReceived,
  decodeMessage,
  encodeMessage,
  isForAll,
  isForNodes,
  type NodeMessage,
  ownersUser,
  parseMessage,
  takeNumber
} from './message-codec.ts'
import { MessageNumbers } from './message-numbers.ts'
import { LINK_LIMITS, type LinkLimits, NatsLink } from './nats-link.ts'
import type { Published } from './nats-session.ts'
import { PartitionCounts } from './partition-counts.ts'
import { decodeUpdates, encodeUpdates, type UserUpdate, updateSize } from './update-codec.ts'
import { type FindUser, UserNames } from './user-names.ts'

export interface NatsBusOptions {
  readonly servers: NatsServers
  readonly credentialsFile: string | null
  readonly caFile: string | null
  /** What the subjects of this installation begin with: one token of a NATS subject. Installations that differ here do not interfere. */
  readonly instance: string
  /** Known to the nodes of this installation only: authenticates their messages. */
  readonly key: Uint8Array
  readonly name: string
  /** For tests. */
  readonly limits?: Partial<LinkLimits>
}

export interface NatsBusDeps {
  readonly clock: Pick<Clock, 'sleep' | 'nextTurn' | 'monotonicMs'>
  readonly ids: Pick<Ids, 'fraction' | 'uuid'>
  readonly log: Log
  /** An event as sessions are sent it. */
  readonly encode: (event: LoggedEvent, userId: UserId) => Uint8Array
  readonly findUser: FindUser
  /** Whether sessions of another node may follow the user; updates of others are not sent. Absent: always. */
  readonly isFollowed?: (userKey: UserKey) => boolean
  /** Sends messages in another way too, which does not lose them: those about a user to its owner, those about a platform to all nodes. */
  readonly direct?: { toOwner(userKey: UserKey, message: object): void; toAll(message: object): void }
}

/** A longer frame is read from the log by the nodes that need it: NATS servers take messages of 1 MiB by default. */
const FRAME_BYTES_MAX = 256 * 1024
/** Updates of one partition are sent together up to this size, without waiting for the end of the turn. */
const BATCH_BYTES = 64 * 1024
const STOP_MS = 1_000

interface Batch {
  readonly updates: UserUpdate[]
  bytes: number
}

/**
 * The bus between nodes, over core NATS. Listeners of this node are called first and at once, as by `LocalBus`. What other nodes get may be
 * late or missing; it is never wrong, and never reordered.
 */
export class NatsBus implements Bus, AsyncDisposable {
  readonly #deps: NatsBusDeps
  readonly #local: LocalBus
  readonly #link: NatsLink
  readonly #envelope: Envelope
  readonly #names: UserNames
  readonly #followed: PartitionCounts
  readonly #messages: string
  readonly #subjects: readonly string[]
  readonly #partitions: ReadonlyMap<string, Partition>
  readonly #batches = new Map<Partition, Batch>()
  readonly #dropped = new Map<DropReason, number>()
  readonly #numbers: MessageNumbers
  #lastNumber = 0
  #isFlushing = false
  /** Partitions followed since the server last confirmed. */
  #unconfirmed = new Set<Partition>()

  constructor({ servers, credentialsFile, caFile, instance, key, name, limits }: NatsBusOptions, deps: NatsBusDeps) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(instance)) throw new RangeError('the instance must be one token of a NATS subject')
    this.#deps = deps
    this.#local = new LocalBus(deps.log)
    this.#numbers = new MessageNumbers(deps.clock, deps.log)
    this.#messages = `trunkline.${instance}.messages`
    this.#subjects = ALL_PARTITIONS.map(partition => `trunkline.${instance}.updates.${partition}`)
    this.#partitions = new Map(ALL_PARTITIONS.map(partition => [this.#subjectOf(partition), partition]))
    this.#envelope = new Envelope(key, Buffer.from(deps.ids.uuid().slice(-17).replace('-', ''), 'hex'))
    this.#names = new UserNames(deps.findUser, deps.log)
    this.#followed = new PartitionCounts(
      partition => this.#begin(partition),
      partition => this.#link.unsubscribe(this.#subjectOf(partition))
    )
    this.#link = new NatsLink({ servers, credentialsFile, caFile, name, limits: { ...LINK_LIMITS, ...limits } }, deps, {
      message: (subject, data) => this.#receive(subject, data),
      connected: () => this.#resume()
    })
    this.#link.subscribe(this.#messages)
  }

  /** Begins to connect, and does not wait for it: without NATS everything works, only later. */
  start(): void {
    this.#link.start()
  }

  get isConnected(): boolean {
    return this.#link.isConnected
  }

  get reconnects(): number {
    return this.#link.reconnects
  }

  dropped(reason: DropReason): number {
    return this.#dropped.get(reason) ?? 0
  }

  publish(message: BusMessage): void {
    this.#local.publish(message)
    if (message.type === 'events') this.#enqueueAll(message.userKey, message.events)
    else if (isForNodes(message)) this.#send(message)
  }

  /** Delivers here what another node sent this one as the owner; the same may come from NATS too. @throws Malformed */
  receive(message: unknown): void {
    const parsed = parseMessage(message)
    if (parsed === 'unknown') this.#drop('unknown')
    else this.#local.publish(asReceived(parsed))
  }

  subscribe(listener: (message: BusMessage) => void, types?: readonly BusMessageType[]): () => void {
    return this.#local.subscribe(listener, types)
  }

  follow(userKey: UserKey): Disposable {
    return this.#followed.follow(partitionOf(userKey))
  }

  /** Whether the server has everything that was published here, and every partition followed here. */
  confirmed(): Promise<boolean> {
    this.#flush()
    return this.#link.confirm()
  }

  /** Sends what waits, if the server takes it within a second. */
  async [Symbol.asyncDispose](): Promise<void> {
    const waited = new AbortController()
    const limit = this.#deps.clock.sleep(STOP_MS, waited.signal).catch(() => undefined)
    await Promise.race([this.confirmed(), limit])
    waited.abort()
    await this.#link.stop()
  }

  #subjectOf(partition: Partition): string {
    return this.#subjects[partition] ?? ''
  }

  #enqueueAll(userKey: UserKey, events: readonly LoggedEvent[]): void {
    if (this.#deps.isFollowed?.(userKey) === false) return
    for (const event of events) this.#enqueue(userKey, event)
  }

  #enqueue(userKey: UserKey, event: LoggedEvent): void {
    if (!this.#link.isConnected) {
      this.#drop('disconnected')
      return
    }
    const update = { userKey, seq: event.seq, topic: event.topic, frame: this.#frameOf(userKey, event) }
    const partition = partitionOf(userKey)
    const batch = this.#batches.get(partition) ?? { updates: [], bytes: 0 }
    this.#batches.set(partition, batch)
    batch.updates.push(update)
    batch.bytes += updateSize(update)
    if (batch.bytes >= BATCH_BYTES) this.#sendBatch(partition, batch)
    else if (!this.#isFlushing) {
      this.#isFlushing = true
      void this.#deps.clock.nextTurn().then(() => this.#flush())
    }
  }

  /** Null: the frame is too long, or the user's name is not known yet. */
  #frameOf(userKey: UserKey, event: LoggedEvent): Uint8Array | null {
    const userId = event.topic === 'orders' ? event.data.userId : this.#names.of(userKey)
    if (userId === null) return null
    try {
      const frame = this.#deps.encode(event, userId)
      return frame.byteLength <= FRAME_BYTES_MAX ? frame : null
    } catch (cause) {
      this.#deps.log.error('an event could not be encoded for other nodes', { eventId: event.eventId, cause })
      return null
    }
  }

  #flush(): void {
    this.#isFlushing = false
    for (const [partition, batch] of this.#batches) this.#sendBatch(partition, batch)
  }

  #sendBatch(partition: Partition, { updates }: Batch): void {
    this.#batches.delete(partition)
    this.#put(this.#subjectOf(partition), encodeUpdates(updates), updates.length)
  }

  #send(message: NodeMessage): void {
    const userKey = ownersUser(message)
    if (userKey !== null) this.#deps.direct?.toOwner(userKey, message)
    else if (isForAll(message)) this.#deps.direct?.toAll(message)
    // After the updates published before it.
    this.#flush()
    const body = encodeMessage(message, ++this.#lastNumber)
    if (body === null) this.#drop('refused')
    else this.#put(this.#messages, body, 1)
  }

  /** `count`: how many messages of the bus the body has. */
  #put(subject: string, body: Uint8Array, count: number): void {
    const published: Published = this.#link.isConnected ? this.#link.publish(subject, this.#envelope.seal(subject, body)) : 'disconnected'
    if (published !== 'sent') this.#drop(published, count)
  }

  #receive(subject: string, data: Uint8Array): void {
    const opened = this.#envelope.open(subject, data)
    if (opened.kind === 'own') return
    const messages = opened.kind === 'message' ? this.#decode(subject, opened) : 'malformed'
    if (typeof messages === 'string') this.#drop(messages)
    else for (const message of messages) this.#local.publish(message)
  }

  #decode(subject: string, { publisher, body }: Genuine): readonly BusMessage[] | DropReason {
    if (subject === this.#messages) {
      const message = decodeMessage(body)
      if (message === null || message === 'unknown') return message ?? 'malformed'
      return this.#numbers.isNew(publisher, takeNumber(message)) ? [asReceived(message)] : 'repeated'
    }
    const partition = this.#partitions.get(subject)
    const users = partition === undefined ? null : decodeUpdates(body, partition)
    return users?.map(({ userKey, updates }) => ({ type: 'update_frames', userKey, updates })) ?? 'malformed'
  }

  #begin(partition: Partition): void {
    this.#link.subscribe(this.#subjectOf(partition))
    this.#unconfirmed.add(partition)
    if (this.#unconfirmed.size === 1) void this.#deps.clock.nextTurn().then(() => this.#confirmFollowed())
  }

  /** Without an answer the connection is given up, and the next one confirms all. */
  async #confirmFollowed(): Promise<void> {
    const partitions = this.#unconfirmed
    this.#unconfirmed = new Set()
    if (await this.#link.confirm()) this.#local.publish({ type: 'partitions_followed', partitions })
  }

  #resume(): void {
    this.#local.publish({ type: 'bus_resumed' })
    this.#local.publish({ type: 'partitions_followed', partitions: this.#followed.partitions })
  }

  #drop(reason: DropReason, count = 1): void {
    this.#dropped.set(reason, this.dropped(reason) + count)
  }
}
