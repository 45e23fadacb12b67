/** Schedules requests: reads in batches, writes and transactions in groups that share one durable commit, scripts alone. */
import { EngineUnavailable } from './errors.ts'
import { Group } from './group.ts'
import { Member, type MemberSettings } from './member.ts'
import type { Session } from './session.ts'
import type { Reply, Statement } from './wire.ts'

export interface Limits {
  /** Requests that may wait; one more is refused. */
  readonly queueMax: number
  /** How long a request may wait in the queue. */
  readonly queueMs: number
  /** How long a transaction may leave the engine idle. */
  readonly idleMs: number
  /** Transactions in one commit. */
  readonly groupMax: number
  /** Milliseconds for which a group takes in transactions that are already queued. */
  readonly groupMs: number
}

/** What the scheduler counted since it began. */
export interface Counts {
  /** Commits made durable for one or more transactions. */
  commits: number
  /** Transactions and single writes served. */
  transactions: number
  reads: number
  /** By number of transactions in it: commits so far. */
  readonly groupSizes: Map<number, number>
  readonly refused: { queueFull: number; deadline: number }
}

interface Waiting<T> {
  readonly dueMs: number
  readonly resolve: (value: T | PromiseLike<T>) => void
  readonly reject: (reason: unknown) => void
}
type Read = Waiting<Reply> & { readonly statement: Statement }
type Write =
  | (Waiting<Reply> & { readonly kind: 'statement'; readonly statement: Statement })
  | (Waiting<Member> & { readonly kind: 'transaction'; readonly settings: () => MemberSettings })
  | (Waiting<void> & { readonly kind: 'alone'; readonly run: () => Promise<void> })

/** Reads answered by one message. */
const BATCH_MAX = 64

export class Scheduler {
  readonly counts: Counts = { commits: 0, transactions: 0, reads: 0, groupSizes: new Map(), refused: { queueFull: 0, deadline: 0 } }
  readonly #session: Session
  readonly #limits: Limits
  readonly #monotonicMs: () => number
  readonly #diskLow: () => boolean
  #reads: Read[] = []
  #writes: Write[] = []
  #running: Promise<void> | null = null
  #sweeper: NodeJS.Timeout | null = null
  #closed = false

  constructor(options: {
    readonly session: Session
    readonly limits: Limits
    readonly monotonicMs: () => number
    readonly diskLow: () => boolean
  }) {
    this.#session = options.session
    this.#limits = options.limits
    this.#monotonicMs = options.monotonicMs
    this.#diskLow = options.diskLow
  }

  /** Requests waiting in the queue. */
  get waiting(): number {
    return this.#reads.length + this.#writes.length
  }

  /** Runs a statement by itself, between groups: it sees only what is durable. */
  read(statement: Statement): Promise<Reply> {
    return this.#admit(waiting => this.#reads.push({ ...waiting, statement }))
  }

  /** Runs a statement as a transaction; resolves when it is durable. */
  write(statement: Statement): Promise<Reply> {
    return this.#admit(waiting => this.#writes.push({ ...waiting, kind: 'statement', statement }))
  }

  /** Waits until a transaction may start. The settings are read then. */
  enter(settings: () => MemberSettings): Promise<Member> {
    return this.#admit(waiting => this.#writes.push({ ...waiting, kind: 'transaction', settings }))
  }

  /** Runs `work` outside of any transaction, with nothing beside it. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const done = Promise.withResolvers<T>()
    await this.#admit<void>(waiting => this.#writes.push({ ...waiting, kind: 'alone', run: () => work().then(done.resolve, done.reject) }))
    return done.promise
  }

  /** Takes nothing more in; resolves when everything taken in is served. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#running !== null) await this.#running
  }

  #admit<T>(enqueue: (waiting: Waiting<T>) => void): Promise<T> {
    if (this.#closed) return Promise.reject(new EngineUnavailable('closed', 'the database is closed'))
    if (this.waiting >= this.#limits.queueMax) {
      this.counts.refused.queueFull += 1
      return Promise.reject(new EngineUnavailable('queue_full', `${this.#limits.queueMax} requests wait for the database already`))
    }
    return new Promise((resolve, reject) => {
      enqueue({ dueMs: this.#monotonicMs() + this.#limits.queueMs, resolve, reject })
      this.#wake()
    })
  }

  #wake(): void {
    if (this.#running === null) this.#running = this.#run()
    else this.#sweeper ??= setInterval(() => this.#sweep(), this.#limits.queueMs / 20)
  }

  async #run(): Promise<void> {
    while (this.waiting > 0) {
      if (this.#reads.length > 0) await this.#serveReads()
      if (this.#writes.length > 0) await this.#serveWrites()
    }
    if (this.#sweeper !== null) clearInterval(this.#sweeper)
    this.#sweeper = null
    this.#running = null
  }

  async #serveReads(): Promise<void> {
    const reads = this.#reads.splice(0, BATCH_MAX)
    this.counts.reads += reads.length
    try {
      const replies = await this.#session.batch(reads.map(({ statement }) => statement))
      for (const [at, { resolve, reject }] of reads.entries()) {
        settle(replies[at], resolve, reject)
      }
    } catch (cause) {
      for (const { reject } of reads) reject(cause)
    }
  }

  async #serveWrites(): Promise<void> {
    const first = this.#writes.shift()
    if (first === undefined) return
    if (first.kind === 'alone') {
      first.resolve()
      return first.run()
    }
    const low = this.#diskLow()
    if (first.kind === 'statement' && this.#writes.length === 0 && !low) return this.#serveOne(first)
    const group = new Group(this.#session, low)
    const untilMs = this.#monotonicMs() + this.#limits.groupMs
    await this.#join(group, first)
    while (!group.broken && group.size < this.#limits.groupMax && this.#monotonicMs() < untilMs) {
      const next = this.#writes[0]
      if (next === undefined || next.kind === 'alone') break
      this.#writes.shift()
      await this.#join(group, next)
    }
    await group.commit()
    this.#count(group.size)
  }

  /** A single write alone in its group commits by itself: one message instead of two. */
  async #serveOne({ statement, resolve, reject }: Write & { readonly kind: 'statement' }): Promise<void> {
    try {
      const [reply] = await this.#session.batch([statement])
      this.#count(1)
      settle(reply, resolve, reject)
    } catch (cause) {
      reject(cause)
    }
  }

  async #join(group: Group, next: Exclude<Write, { readonly kind: 'alone' }>): Promise<void> {
    if (next.kind === 'transaction') {
      const member = new Member(group, next.settings())
      next.resolve(member)
      return member.ended
    }
    try {
      const { verdict } = await group.run(next.statement)
      next.resolve(verdict)
    } catch (cause) {
      next.reject(cause)
    }
  }

  #count(size: number): void {
    if (size === 0) return
    this.counts.commits += 1
    this.counts.transactions += size
    this.counts.groupSizes.set(size, (this.counts.groupSizes.get(size) ?? 0) + 1)
  }

  /** Refuses what has waited too long, also while one slow statement holds the engine. */
  #sweep(): void {
    const now = this.#monotonicMs()
    const late = [...this.#reads, ...this.#writes].filter(({ dueMs }) => dueMs <= now)
    if (late.length === 0) return
    this.#reads = this.#reads.filter(({ dueMs }) => dueMs > now)
    this.#writes = this.#writes.filter(({ dueMs }) => dueMs > now)
    this.counts.refused.deadline += late.length
    for (const { reject } of late) reject(new EngineUnavailable('deadline', `waited ${this.#limits.queueMs} ms for the database`))
  }
}

function settle(reply: Reply | undefined, resolve: (reply: Reply) => void, reject: (reason: unknown) => void): void {
  if (reply === undefined) reject(new Error('the engine left a statement unanswered'))
  else if (reply.error !== null) reject(reply.error)
  else resolve(reply)
}
