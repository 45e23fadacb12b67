import type { NodeId } from '@trunkline/core/domain/ids'
import type { Bus, Spent } from '@trunkline/core/ports/bus'
import type { Clock } from '@trunkline/core/ports/clock'

/** A node sends what it granted no sooner than this after the first, so at most ten times a second. */
const REPORT_MS = 100
const LOOK_MS = 250
const ALIVE_EVERY = 4
/** A node that sent nothing for so long is taken for one that receives nothing either. */
const SILENT_MS = 2_500
/** What is sent at once, in messages of bounded length; the rest waits for the next time. */
const REPORT = { messages: 16, characters: 12_000, callers: 1_000 }
/** Callers whose grants wait to be sent. Beyond it they are not sent. */
const CALLERS_MAX = 20_000
const NAME_MAX = 512
/** More members than there are partitions own nothing. */
const MEMBERS_MAX = 256

export interface ClusterRatesDeps {
  readonly bus: Bus
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep' | 'alarm'>
  readonly nodeId: NodeId
  /** The living members as this node sees them, this one included once it has joined. */
  readonly members: () => readonly NodeId[]
  readonly isConnected: () => boolean
  /** Within this time every living member sees one that has joined. */
  readonly leaseMs: number
}

type Listener = (caller: string, count: number, nowMs: number) => void

/**
 * Limits that the nodes of a cluster share. Nodes report to each other what they grant, and take it from their own buckets, so a caller
 * has its limit once, whichever nodes it asks. Nobody waits for that: a caller may be granted what several nodes grant within the tenth
 * of a second before they report it, and pays it back. A node that receives nothing from some of the others grants only the part of the
 * rest: without NATS each grants an equal part.
 */
export class ClusterRates {
  readonly #deps: ClusterRatesDeps
  readonly #listeners = new Map<string, Listener>()
  readonly #spent = new Map<string, Map<string, number>>()
  #callers = 0
  #reporting: Disposable | null = null
  /** When each other node last sent something, and the members that it knew. */
  readonly #lastReceived = new Map<NodeId, { readonly atMs: number; readonly members: ReadonlySet<NodeId> }>()
  readonly #stopping = new AbortController()
  readonly #unsubscribe: () => void
  #share = 1
  #quotaShare = 0
  #joinedMs: number | null = null
  #isCounted = false

  constructor(deps: ClusterRatesDeps) {
    this.#deps = deps
    this.#unsubscribe = deps.bus.subscribe(
      message => {
        if (message.type === 'node_alive') this.#receive(message.nodeId, message.members)
        else if (message.type === 'rates_spent' && this.#isCurrent(message.nodeId)) this.#take(message.spent)
        else if (message.type === 'bus_resumed') {
          // Those that are named take their parts as soon as they receive it.
          this.#divide()
          this.#announce()
        }
      },
      ['node_alive', 'rates_spent', 'bus_resumed']
    )
  }

  /** One limit, by a name that is the same on every node. */
  limit(name: string): { readonly share: number; spent(caller: string, count: number): void; onSpent(listener: Listener): void } {
    const share = () => this.#share
    return {
      get share() {
        return share()
      },
      spent: (caller, count) => this.#note(name, caller, count),
      onSpent: listener => void this.#listeners.set(name, listener)
    }
  }

  /**
   * The part of a broker's quota that this node may use: the parts of all nodes are never more than the whole. A node that joins has none
   * until the others count it: they say so, or had the time of a lease to see it.
   */
  get quotaShare(): number {
    return this.#quotaShare
  }

  start(): void {
    void this.#run()
  }

  stop(): void {
    this.#stopping.abort()
    this.#unsubscribe()
    this.#reporting?.[Symbol.dispose]()
  }

  async #run(): Promise<void> {
    const { clock, members } = this.#deps
    const { signal } = this.#stopping
    let before = ''
    for (let look = 0; !signal.aborted; look += 1) {
      const known = members().join()
      this.#divide()
      if (known !== before || look % ALIVE_EVERY === 0) this.#announce()
      before = known
      await clock.sleep(LOOK_MS, signal).catch(() => undefined)
    }
  }

  #announce(): void {
    const { bus, nodeId, members } = this.#deps
    bus.publish({ type: 'node_alive', nodeId, members: members().slice(0, MEMBERS_MAX) })
  }

  #receive(nodeId: NodeId, members: readonly NodeId[]): void {
    if (nodeId === this.#deps.nodeId) return
    this.#lastReceived.set(nodeId, { atMs: this.#deps.clock.monotonicMs(), members: new Set(members) })
    this.#divide()
  }

  #divide(): void {
    const { nodeId, members, isConnected, clock, leaseMs } = this.#deps
    const nowMs = clock.monotonicMs()
    for (const [other, { atMs }] of this.#lastReceived) if (nowMs - atMs >= SILENT_MS) this.#lastReceived.delete(other)
    const living = members()
    if (!living.includes(nodeId)) return
    const others = living.filter(other => other !== nodeId)
    const reachable = isConnected() ? others.filter(other => this.#lastReceived.has(other)) : []
    this.#share = (1 + reachable.length) / living.length
    this.#joinedMs ??= nowMs
    this.#isCounted ||=
      nowMs - this.#joinedMs >= leaseMs || others.every(other => this.#lastReceived.get(other)?.members.has(nodeId) === true)
    this.#quotaShare = this.#isCounted ? 1 / living.length : 0
  }

  /**
   * Whether what the node granted is taken: once it has named this node. A message that does cannot have been recorded before this one
   * started, and the bus lets nothing pass that is older than one that passed.
   */
  #isCurrent(nodeId: NodeId): boolean {
    return nodeId !== this.#deps.nodeId && this.#lastReceived.get(nodeId)?.members.has(this.#deps.nodeId) === true
  }

  #take(spent: readonly Spent[]): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const [name, caller, count] of spent) this.#listeners.get(name)?.(caller, count, nowMs)
  }

  #note(name: string, caller: string, count: number): void {
    // The last requests are granted after it was stopped: nothing would report them, and the alarm would keep the process.
    if (this.#stopping.signal.aborted) return
    const callers = this.#spent.get(name) ?? new Map<string, number>()
    const before = callers.get(caller)
    if (before === undefined && (this.#callers >= CALLERS_MAX || caller === '' || caller.length > NAME_MAX)) return
    if (before === undefined) this.#callers += 1
    this.#spent.set(name, callers.set(caller, (before ?? 0) + count))
    this.#reporting ??= this.#deps.clock.alarm(REPORT_MS, () => this.#report())
  }

  #report(): void {
    const { bus, nodeId, clock } = this.#deps
    this.#reporting = null
    for (let messages = 0; messages < REPORT.messages && this.#callers > 0; messages += 1) {
      const spent = this.#next()
      if (spent.length > 0) bus.publish({ type: 'rates_spent', nodeId, spent })
    }
    if (this.#callers > 0) this.#reporting = clock.alarm(REPORT_MS, () => this.#report())
  }

  /** What fits into one message. */
  #next(): readonly Spent[] {
    const spent: Spent[] = []
    let characters = 0
    for (const [name, callers] of this.#spent)
      for (const [caller, count] of callers) {
        if (characters >= REPORT.characters || spent.length >= REPORT.callers) return spent
        callers.delete(caller)
        this.#callers -= 1
        // What was given back was not granted.
        if (count === 0) continue
        spent.push([name, caller, count])
        characters += Buffer.byteLength(JSON.stringify([name, caller, count]))
      }
    return spent
  }
}
