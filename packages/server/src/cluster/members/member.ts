import { within } from '@trunkline/core/app/time-limits'
import type { NodeId, UserKey } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, type Partition, partitionOf } from '@trunkline/core/domain/partition'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Owner, Ownership, OwnershipListener } from '@trunkline/core/ports/ownership'
import type { Command, Keeper, MemberRow, Notice, SilentMember, StartKeeper } from './messages.ts'
import { planOf } from './plan.ts'
import type { SharedLease } from './shared-lease.ts'
import { Silence } from './silence.ts'
import { Unclaimed } from './unclaimed.ts'

export interface MemberOptions {
  readonly nodeId: NodeId
  readonly leaseMs: number
  /** How long the work for partitions may take to end before they are released all the same. */
  readonly releaseMsMax: number
  /** Partitions that are released at a time: each is without an owner only briefly, and a new owner takes them up in turn. */
  readonly releasedAtOnce: number
  /** While it is drained, the next ones follow so long after these: their new owners first do what their users wait for. */
  readonly drainPauseMs: number
  /** How long the next ones wait for others to own these. A new owner that is busy takes them late, and then more would wait for it. */
  readonly takenMsMax: number
  /** Called once, when the lease was lost. Nothing is owned from then on; the process should end. */
  readonly onLost: (cause: LeaseLost) => void
}

export const MEMBER_DEFAULTS = { releaseMsMax: 400, releasedAtOnce: 16, drainPauseMs: 100, takenMsMax: 400 } as const

export interface MemberDeps {
  readonly clock: Clock
  readonly log: Log
  readonly lease: SharedLease
  /** The clock of the lease, the same in all threads. */
  readonly nowMs: () => number
  readonly startKeeper: StartKeeper
  /** Called with each reading of the database's wall clock: what it was then, and within which time, by the clock of the lease. */
  readonly onWallClock: (wallMs: number, sentMs: number, cameMs: number) => void
}

/** The node's lease has ended before it left: others may own its users. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

type View = Extract<Notice, { readonly kind: 'view' }>

const THIS: Owner = { kind: 'this' }
const NONE: Owner = { kind: 'none' }
/** What was just claimed in vain is claimed again after so long. */
const CLAIM_AGAIN_MS = 100
/** How long the database may take to be left. */
const LEAVE_MS_MAX = 2_000

/**
 * A node among others: owns its share of the partitions by leases in the database (decision 33). It decides what to claim and what to
 * release on each view of members and partitions; the keeper carries that out.
 */
export class ClusterMember implements Ownership {
  readonly #options: MemberOptions
  readonly #deps: MemberDeps
  readonly #silence: Silence
  readonly #unclaimed = new Unclaimed()
  readonly #listeners = new Set<OwnershipListener>()
  readonly #waiting = new Set<() => void>()
  readonly #started = Promise.withResolvers<void>()
  readonly #drained = Promise.withResolvers<void>()
  readonly #over = Promise.withResolvers<void>()
  #keeper: Keeper | null = null
  #isOver = false
  #isLeaving = false
  /** What this node owns, with its fences. */
  readonly #owned = new Map<Partition, number>()
  /** Of them, those whose work is being ended. */
  readonly #closing = new Set<Partition>()
  /** What it released, by the command that does so in the database. */
  readonly #released = new Map<Partition, number>()
  /** What was released last, until others own it, and when. */
  #givenAway: ReadonlySet<Partition> = new Set()
  #givenAwayMs = Number.NEGATIVE_INFINITY
  #isGivePending = false
  #view: View | null = null
  #members: ReadonlyMap<NodeId, MemberRow> = new Map()
  #commandId = 0
  /** The last claim: its command, what it asked for, and when. */
  #claimId = 0
  #claimed: ReadonlySet<Partition> = new Set()
  #claimedMs = Number.NEGATIVE_INFINITY
  #isClaimPending = false

  constructor(options: MemberOptions, deps: MemberDeps) {
    this.#options = options
    this.#deps = deps
    this.#silence = new Silence(options.leaseMs)
    this.#started.promise.catch(() => undefined)
  }

  /** Joins the others; what this node gets is reported to the listeners. @throws LeaseLost if it cannot join */
  start(): Promise<void> {
    if (this.#keeper === null && !this.#isOver) {
      this.#deps.lease.mainIsSeen(this.#deps.nowMs())
      this.#keeper = this.#deps.startKeeper(notice => this.#receive(notice))
    }
    return this.#started.promise
  }

  ownerOf(userKey: UserKey): Owner {
    const partition = partitionOf(userKey)
    if (this.#owned.has(partition)) return this.#closing.has(partition) || !this.#isHeld() ? NONE : THIS
    const owner = this.#view?.view.owners[partition] ?? null
    const member = owner === null || owner === this.#options.nodeId ? undefined : this.#members.get(owner)
    if (member === undefined || this.#view === null) return NONE
    const { nodeId, url, leaseMs } = member
    return this.#deps.nowMs() - this.#view.sentMs < leaseMs ? { kind: 'other', node: { nodeId, url } } : NONE
  }

  /** While the work for a partition is being ended, its fence still holds, so that the work can be finished. */
  fenceOf(userKey: UserKey): number | null {
    return this.#isHeld() ? (this.#owned.get(partitionOf(userKey)) ?? null) : null
  }

  changed(ms: number): Promise<void> {
    return new Promise(resolve => {
      const alarm = this.#deps.clock.alarm(ms, () => wake())
      const wake = () => {
        alarm[Symbol.dispose]()
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
    })
  }

  listen(listener: OwnershipListener): () => void {
    this.#listeners.add(listener)
    const owned = new Set([...this.#owned.keys()].filter(partition => !this.#closing.has(partition)))
    if (owned.size > 0) listener.gained(owned)
    return () => this.#listeners.delete(listener)
  }

  owns(partition: Partition): boolean {
    return this.#isHeld() && this.#owned.has(partition)
  }

  /** How many partitions this node owns. */
  get ownedCount(): number {
    return this.#isHeld() ? this.#owned.size : 0
  }

  /** The members whose leases had not ended when they were seen last, this one included. */
  get members(): readonly MemberRow[] {
    return this.#view?.view.members.filter(({ leaseMs }) => leaseMs > 0) ?? []
  }

  /** Looks at the database at once: another node has released something. */
  wake(): void {
    if (!this.#isOver) this.#keeper?.request({ kind: 'look' })
  }

  /** Looks at the database at once: the node may be dead. Its partitions are claimed when its lease has ended, and not before. */
  suspect(nodeId: NodeId): void {
    if (this.#members.has(nodeId)) this.wake()
  }

  /** Gives all partitions away and takes none any more. Resolves when it owns nothing. */
  async drain(): Promise<void> {
    if (this.#keeper === null || this.#isOver) return
    this.#command(id => ({ kind: 'drain', id }))
    await this.#drained.promise
  }

  /** Leaves the others; drain it before. What it still owns is free for them from now on. */
  async stop(): Promise<void> {
    if (this.#keeper === null) return
    if (!this.#isOver) {
      this.#isLeaving = true
      this.#disown()
      this.#command(id => ({ kind: 'leave', id }))
      await within(this.#deps.clock, this.#over.promise, LEAVE_MS_MAX)
    }
    this.#end()
    await this.#keeper.abort()
  }

  #receive(notice: Notice): void {
    if (this.#isOver) return
    this.#deps.lease.mainIsSeen(this.#deps.nowMs())
    if (notice.kind === 'view') this.#see(notice)
    else if (notice.kind === 'warning') this.#deps.log.warn(notice.message, { cause: notice.cause })
    else if (notice.kind === 'lost') this.#lose(notice.why)
    else this.#end()
  }

  #see(seen: View): void {
    // A view that is not held is old, received after a pause; the keeper reports the loss.
    if (this.#isLeaving || !this.#isHeld()) return
    this.#deps.onWallClock(seen.wallMs, seen.sentMs, seen.cameMs)
    for (const [partition, id] of this.#released) if (id <= seen.done) this.#released.delete(partition)
    const before = this.#view
    this.#view = seen
    this.#members = new Map(seen.view.members.map(member => [member.nodeId, member]))
    const silent = this.#silence.observe(seen.view, seen.sentMs, seen.cameMs)
    const unclaimed = this.#unclaimed.observe(seen.view, seen.cameMs)
    const gained = this.#gained(seen)
    if (gained === null) this.#lose('another node owns what was its own')
    if (this.#isOver || gained === null) return
    if (gained.size > 0) {
      this.#deps.log.info('partitions were gained', { partitions: gained.size, owned: this.#owned.size })
      for (const listener of this.#listeners) listener.gained(gained)
    }
    if (before === null) this.#started.resolve()
    if (before === null || differ(before, seen)) this.#notify()
    this.#decide(seen, silent, unclaimed)
  }

  #decide({ view, done }: View, silent: readonly SilentMember[], unclaimed: ReadonlySet<Partition>): void {
    const { nodeId, leaseMs } = this.#options
    const { claim, give } = planOf({ view, nodeId, leaseMs, silent, unclaimed })
    // One claim at a time: what it leaves is decided with the next view.
    if (this.#claimId <= done) this.#claim(claim, silent)
    this.#give(give, view)
    if (this.#members.get(nodeId)?.isDraining === true && this.#owned.size + this.#released.size === 0) this.#drained.resolve()
  }

  /** What could not be claimed is being written to, or its owner renews just now: it is left for a moment. */
  #claim(claim: readonly Partition[], silent: readonly SilentMember[]): void {
    const nowMs = this.#deps.nowMs()
    const partitions = nowMs - this.#claimedMs < CLAIM_AGAIN_MS ? claim.filter(partition => !this.#claimed.has(partition)) : claim
    if (partitions.length < claim.length && !this.#isClaimPending) {
      this.#isClaimPending = true
      this.#deps.clock.alarm(CLAIM_AGAIN_MS, () => {
        this.#isClaimPending = false
        this.wake()
      })
    }
    if (partitions.length === 0) return
    this.#claimId = this.#command(id => ({ kind: 'claim', id, partitions, silent }))
    this.#claimed = new Set(partitions)
    this.#claimedMs = nowMs
  }

  /** What this node owns since now; null if another one owns what is this one's. */
  #gained({ view }: View): ReadonlySet<Partition> | null {
    const gained = new Set<Partition>()
    for (const partition of ALL_PARTITIONS) {
      const held = this.#owned.get(partition)
      const fence = view.owners[partition] === this.#options.nodeId ? view.fences[partition] : undefined
      if (held !== undefined && held !== fence) return null
      if (held !== undefined || fence === undefined || this.#released.has(partition)) continue
      this.#owned.set(partition, fence)
      gained.add(partition)
    }
    return gained
  }

  /** Some at a time; the next ones when others own these, or after a while. */
  #give(give: readonly Partition[], { owners, members }: View['view']): void {
    const { nodeId, releasedAtOnce, drainPauseMs, takenMsMax } = this.#options
    const batch = new Set(give.filter(partition => this.#owned.has(partition)).slice(0, releasedAtOnce))
    if (this.#closing.size > 0 || batch.size === 0) return
    const isWaiting = [...this.#givenAway].some(partition => owners[partition] === null)
    const canBeTaken = members.some(member => member.nodeId !== nodeId && member.leaseMs > 0 && !member.isDraining)
    const sinceMs = this.#deps.nowMs() - this.#givenAwayMs
    const pauseMs = canBeTaken && this.#members.get(nodeId)?.isDraining === true ? drainPauseMs : 0
    if (sinceMs < pauseMs) this.#giveLater(pauseMs - sinceMs)
    else if (!canBeTaken || !isWaiting || sinceMs >= takenMsMax) void this.#release(batch)
  }

  #giveLater(ms: number): void {
    if (this.#isGivePending) return
    this.#isGivePending = true
    this.#deps.clock.alarm(ms, () => {
      this.#isGivePending = false
      this.wake()
    })
  }

  /** Never rejects. */
  async #release(batch: ReadonlySet<Partition>): Promise<void> {
    const { clock, log, nowMs } = this.#deps
    const sinceMs = nowMs()
    this.#givenAwayMs = sinceMs
    for (const partition of batch) this.#closing.add(partition)
    this.#notify()
    const ended = Promise.all([...this.#listeners].map(listener => listener.release(batch))).then(
      () => true,
      cause => {
        log.error('the work for partitions did not end cleanly', { partitions: batch.size, cause })
        return true
      }
    )
    const inTime = await within(clock, ended, this.#options.releaseMsMax)
    if (this.#isOver) return
    if (inTime !== true) log.warn('partitions are released before all work for them has ended', { partitions: batch.size })
    const id = this.#command(commandId => ({ kind: 'release', id: commandId, partitions: [...batch] }))
    for (const partition of batch) {
      this.#owned.delete(partition)
      this.#closing.delete(partition)
      this.#released.set(partition, id)
    }
    this.#givenAway = batch
    log.info('partitions were released', { partitions: batch.size, owned: this.#owned.size, ms: Math.round(nowMs() - sinceMs) })
  }

  #command(make: (id: number) => Command): number {
    this.#commandId += 1
    this.#keeper?.request(make(this.#commandId))
    return this.#commandId
  }

  #isHeld(): boolean {
    return this.#deps.nowMs() < this.#deps.lease.endsAtMs
  }

  #notify(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  #lose(why: string): void {
    const cause = new LeaseLost(`this node has lost its lease: ${why}`)
    const wasStarted = this.#view !== null
    this.#started.reject(cause)
    this.#end()
    void this.#keeper?.abort()
    if (wasStarted) this.#options.onLost(cause)
  }

  #disown(): void {
    this.#owned.clear()
    this.#closing.clear()
    this.#notify()
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#deps.lease.end()
    this.#disown()
    this.#started.reject(new LeaseLost('this node was stopped before it had joined'))
    this.#drained.resolve()
    this.#over.resolve()
  }
}

/** Whether an owner, or a member that may be one, is another than before. */
function differ(a: View, b: View): boolean {
  const living = ({ view }: View) => view.members.filter(({ leaseMs }) => leaseMs > 0).map(({ nodeId }) => nodeId)
  return !sameList(a.view.owners, b.view.owners) || !sameList(living(a), living(b))
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index])
}
