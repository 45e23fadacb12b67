import { setBounded } from '@trunkline/core/app/bounded-map'
import type { UserKey } from '@trunkline/core/domain/ids'
import { type Partition, partitionOf } from '@trunkline/core/domain/partition'
import { epochMs, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { WebhookCursor, WebhookEndpoint } from '@trunkline/core/domain/webhook'
import type { KnownWebhookEndpoint } from '@trunkline/core/ports/webhook-store'
import type { WebhookSigner } from './signing-keys.ts'

/** A user of an endpoint whose log goes on after the cursor, or whose cursor is not written yet. */
export interface Chain {
  readonly userKey: UserKey
  /** Null: to be read from the store. */
  cursor: WebhookCursor | null
  /** The newest event that is known. */
  last: number
  /** When the oldest event that was not received was logged, as far as is known. */
  since: Timestamp
  state: 'ready' | 'running' | 'waiting' | 'passed'
  /** The second in which it is tried again; null unless it waits. */
  due: number | null
  /** The cursor passed events that were not sent, and this is not written. */
  isDirty: boolean
  /** A success, or that events were passed over, which is being written while what is next is sent already. It never rejects. */
  writing: Promise<void> | null
  /** The last success could not be written: the store has an earlier cursor. */
  isUnwritten: boolean
  /** This node sends no more to it; an attempt on its way still writes what it did. */
  isOver: boolean
}

/** Attempts at once to one endpoint. */
export const PLACES = 32
/** Of an endpoint whose attempts take a second or more: it holds each place for long. */
const SLOW_PLACES = 16
const SLOW_MS = 1_000
/** How much the newest attempt counts in the mean time of attempts. */
const NEWEST_SHARE = 0.2
/** So many failures in a row leave it one place, and one attempt between two ticks: a connection that is refused at once costs a read. */
const FAILURES = 10
/** Users that are caught up, whose cursors are remembered: the next event needs no look-up. */
const CAUGHT_UP_MAX = 1_000
const SECOND_MS = 1_000
/** An endpoint that fails for some users only is not tried for these at every success of others. */
const RECOVERY_MS = 600_000

/** The users of one endpoint that wait to be sent to. Each is in one state; those that are caught up cost nothing. */
export class EndpointQueue {
  known: KnownWebhookEndpoint
  signer: WebhookSigner
  /** Failures since the last success. */
  failures = 0
  failingSince: Timestamp | null
  isDisabled = false
  readonly chains = new Map<UserKey, Chain>()
  readonly #ready = new Set<Chain>()
  /** Those that wait for nothing: only a write of theirs is left. */
  readonly #passed = new Set<Chain>()
  /** Of these, the ones whose write is not on its way yet. */
  readonly #dirty = new Set<Chain>()
  /** By the second in which they are tried again: a timer for each would cost more than the rest of it. */
  readonly #retries = new Map<number, Set<Chain>>()
  readonly #caughtUp = new Map<UserKey, WebhookCursor>()
  #running = 0
  #meanMs = 0
  /** An attempt has begun since the last tick. */
  #isTried = false
  #recoveredAt: number | null = null

  constructor(known: KnownWebhookEndpoint, signer: WebhookSigner) {
    this.known = known
    this.signer = signer
    this.failingSince = known.endpoint.failingSince
  }

  get endpoint(): WebhookEndpoint {
    return this.known.endpoint
  }

  get running(): number {
    return this.#running
  }

  /** Users that wait to be sent to, or are being sent to. */
  get waiting(): number {
    return this.chains.size - this.#passed.size
  }

  /** Users whose events were passed over, and of whom this is not written yet. */
  get passed(): number {
    return this.#passed.size
  }

  get isFailing(): boolean {
    return this.failures >= FAILURES
  }

  /** Whether attempts take a second or more, in the mean of the last ones. */
  get isSlow(): boolean {
    return this.#meanMs >= SLOW_MS
  }

  /** Counts how long an attempt took. */
  took(ms: number): void {
    this.#meanMs += NEWEST_SHARE * (ms - this.#meanMs)
  }

  /** Whether an attempt may begin, as far as this endpoint is concerned. */
  get hasWork(): boolean {
    if (this.isDisabled || this.#ready.size === 0) return false
    if (this.isFailing) return this.#running === 0 && !this.#isTried
    return this.#running < (this.isSlow ? SLOW_PLACES : PLACES)
  }

  /** Whether the user is caught up with `last`, as far as is remembered. */
  isCaughtUp(userKey: UserKey, last: number): boolean {
    return (this.#caughtUp.get(userKey)?.seq ?? -1) >= last
  }

  /** When the oldest event that waits was logged, as far as is known; null if none waits. */
  get oldestAt(): Timestamp | null {
    let oldest: Timestamp | null = null
    for (const { state, since } of this.chains.values()) if (state !== 'passed' && (oldest === null || since < oldest)) oldest = since
    return oldest
  }

  /** The user's log goes on to `last`, with events since a time. */
  add(userKey: UserKey, last: number, since: Timestamp): void {
    const chain: Chain = {
      ...{ userKey, last, since, cursor: this.#caughtUp.get(userKey) ?? null },
      ...{ state: 'ready', due: null, isDirty: false, writing: null, isUnwritten: false, isOver: false }
    }
    this.#caughtUp.delete(userKey)
    this.chains.set(userKey, chain)
    this.#ready.add(chain)
  }

  /** The log of a known chain goes on. */
  extend(chain: Chain, last: number, since: Timestamp): void {
    if (last <= chain.last) return
    chain.last = last
    if (chain.state !== 'passed') return
    chain.since = since
    this.makeReady(chain)
  }

  makeReady(chain: Chain): void {
    this.#leave(chain)
    chain.state = 'ready'
    this.#ready.add(chain)
  }

  /** The next one to be tried; it is running from now on. */
  take(): Chain | null {
    for (const chain of this.#ready) {
      this.begin(chain)
      this.#isTried = true
      return chain
    }
    return null
  }

  begin(chain: Chain): void {
    this.#leave(chain)
    chain.state = 'running'
    this.#running += 1
  }

  /** A running chain goes on: now, at a time, or once there is more. What was not written is made again at `again`. */
  end(chain: Chain, next: 'ready' | 'passed' | Timestamp, again: Timestamp): void {
    this.#running -= 1
    if (chain.isOver) return
    chain.state = 'passed'
    this.#passed.add(chain)
    if (chain.isUnwritten && chain.writing === null) this.unwritten(chain, again)
    else if (next === 'ready') this.makeReady(chain)
    else if (next !== 'passed') this.#wait(chain, next)
    else if (chain.cursor === null || chain.last > chain.cursor.seq) this.makeReady(chain)
    else this.settle(chain)
  }

  /** A chain that waits for nothing is written, if something is left to be written, and is then only remembered. */
  settle(chain: Chain): void {
    const { state, cursor, isDirty, writing } = chain
    if (state !== 'passed' || chain.isOver || writing !== null || cursor === null) return
    if (isDirty) this.#dirty.add(chain)
    else this.#catchUp(chain, cursor)
  }

  /** Those whose events were passed over, to be written. Those that are not `passed` any more when their turn comes are left out. */
  unwrittenPassed(): readonly Chain[] {
    return [...this.#dirty]
  }

  /** Whether the chain is still to be written as passed; its write is on its way from now on. */
  takePassed(chain: Chain): boolean {
    return this.#dirty.delete(chain)
  }

  /** Drops one that is only to be written as passed: its events are passed over again when a search finds the user. */
  dropPassed(): void {
    const oldest = firstOf(this.#dirty)
    if (oldest !== null) this.drop(oldest)
  }

  /** The store has an earlier cursor than the chain: it is looked up, at a time at the earliest. A running chain ends first. */
  unwritten(chain: Chain, at: Timestamp): void {
    chain.isUnwritten = true
    if (chain.state === 'running' || chain.isOver) return
    chain.isUnwritten = false
    chain.isDirty = false
    this.#dirty.delete(chain)
    chain.cursor = null
    if (chain.state === 'passed') this.#wait(chain, at)
  }

  /** At each tick, once a second: chains whose retry is due become ready. */
  wake(now: Timestamp): void {
    this.#isTried = false
    const second = Math.floor(epochMs(now) / SECOND_MS)
    for (const [due, chains] of this.#retries) {
      if (due > second) continue
      this.#retries.delete(due)
      for (const chain of chains) this.makeReady(chain)
    }
  }

  /** An attempt succeeded. If the endpoint was failing, those that wait for a retry are tried now, once in ten minutes at most. */
  succeeded(now: Timestamp): void {
    const wasFailing = this.isFailing
    this.failures = 0
    this.failingSince = null
    const ms = epochMs(now)
    if (!wasFailing || (this.#recoveredAt !== null && ms - this.#recoveredAt < RECOVERY_MS)) return
    this.#recoveredAt = ms
    for (const chains of this.#retries.values())
      for (const chain of chains) {
        if (chain.cursor !== null) chain.cursor = { ...chain.cursor, retryAt: null }
        this.makeReady(chain)
      }
  }

  /** All chains look their cursors up again: the endpoint was changed, and a change ends waits. */
  restart(): void {
    for (const chain of this.chains.values()) {
      if (chain.state === 'running') continue
      if (!chain.isDirty) chain.cursor = null
      this.makeReady(chain)
    }
  }

  drop(chain: Chain): void {
    chain.isOver = true
    if (this.chains.get(chain.userKey) === chain) this.chains.delete(chain.userKey)
    this.#leave(chain)
  }

  /** One that the store knows all of and that is not running, to be found there again; null if there is none. */
  evictable(): Chain | null {
    for (const due of this.#retries.values()) return firstOf(due)
    // Few have a write on its way: as many as are sent and written at once.
    for (const chain of this.#ready) if (chain.writing === null) return chain
    return null
  }

  /** Forgets who is caught up in these partitions: another node moves their cursors now. */
  forget(partitions: ReadonlySet<Partition>): void {
    for (const userKey of this.#caughtUp.keys()) if (partitions.has(partitionOf(userKey))) this.#caughtUp.delete(userKey)
  }

  #wait(chain: Chain, at: Timestamp): void {
    this.#leave(chain)
    chain.state = 'waiting'
    const second = secondOf(at)
    chain.due = second
    const due = this.#retries.get(second) ?? new Set()
    this.#retries.set(second, due.add(chain))
  }

  /** Takes it from where it is in its state. */
  #leave(chain: Chain): void {
    for (const all of [this.#ready, this.#passed, this.#dirty]) all.delete(chain)
    if (chain.due === null) return
    const due = this.#retries.get(chain.due)
    due?.delete(chain)
    if (due?.size === 0) this.#retries.delete(chain.due)
    chain.due = null
  }

  #catchUp(chain: Chain, cursor: WebhookCursor): void {
    this.drop(chain)
    setBounded(this.#caughtUp, chain.userKey, cursor, CAUGHT_UP_MAX)
  }
}

/** The second after which it is: nothing is tried too early. */
function secondOf(at: Timestamp): number {
  return Math.ceil(epochMs(at) / SECOND_MS)
}

function firstOf(chains: ReadonlySet<Chain>): Chain | null {
  for (const chain of chains) return chain
  return null
}
