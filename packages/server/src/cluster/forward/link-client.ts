import type { Clock } from '@trunkline/core/ports/clock'
import { FRAME, Link } from './link.ts'
import type { OpenedLink } from './link-opening.ts'
import { type NodeAnswer, NodeFault } from './node-client.ts'
import { decodeAnswer } from './passed-codec.ts'

export interface LinkLimits {
  /** Requests under way to one node. */
  readonly underWayMax: number
  /** How long a request waits for a link, … */
  readonly connectMs: number
  /** … and how long one is opened, for the requests after it. */
  readonly openMs: number
  /** From the request to its complete answer. */
  readonly answerMs: number
  /** Bytes of an answer. The largest have a few MiB. */
  readonly answerMax: number
  /** A node that is waited for and sends nothing is asked after this time whether it lives. */
  readonly quietMs: number
  /** After this one, another link is opened. If the node answers over that one, the first is cut somewhere, and given up. */
  readonly doubtMs: number
  /** After this one, a link is given up whatever the node does. */
  readonly deadMs: number
}

interface OpenLink {
  readonly link: Link
  readonly sinceMs: number
  waiting: number
  receivedMs: number
}

interface Exchange {
  readonly settle: (fault: NodeFault | null, answer: NodeAnswer | null) => void
  readonly via: OpenLink
  readonly sinceMs: number
  readonly pieces: Buffer[]
  length: number
}

const ID_MAX = 0xffff_ffff
const LOOK_MS = 1_000

/** Requests to one other node, over a link that is opened when it is needed, and replaced when it is in doubt. */
export class LinkClient {
  readonly #open: (signal: AbortSignal) => Promise<OpenedLink>
  readonly #limits: LinkLimits
  readonly #clock: Pick<Clock, 'monotonicMs' | 'alarm'>
  readonly #exchanges = new Map<number, Exchange>()
  #opening: Promise<OpenLink> | null = null
  #current: OpenLink | null = null
  #lastId = 0
  #look: Disposable | null = null
  readonly #over = new AbortController()

  constructor(open: (signal: AbortSignal) => Promise<OpenedLink>, limits: LinkLimits, clock: Pick<Clock, 'monotonicMs' | 'alarm'>) {
    this.#open = open
    this.#limits = limits
    this.#clock = clock
  }

  /** Sends once. Any status is an answer. @throws NodeFault */
  async send(request: Buffer, signal: AbortSignal): Promise<NodeAnswer> {
    const current = this.#current
    const via = current === null || this.#isInDoubt(current) ? await this.#opened() : current
    if (signal.aborted || via.link.isClosed) throw new NodeFault('nothing', 'no connection to the node')
    if (this.#exchanges.size >= this.#limits.underWayMax) throw new NodeFault('nothing', 'too many requests are under way to the node')
    return await this.#exchange(via, request, signal)
  }

  /** Requests end as faults. */
  cut(): void {
    this.#over.abort()
    for (const { link } of this.#links()) link.destroy()
  }

  #exchange(via: OpenLink, request: Buffer, signal: AbortSignal): Promise<NodeAnswer> {
    const id = this.#nextId()
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#giveUp(id, 'given up while waiting for the node')
      const settle: Exchange['settle'] = (fault, answer) => {
        this.#exchanges.delete(id)
        via.waiting -= 1
        if (via.waiting === 0 && via !== this.#current) via.link.destroy()
        signal.removeEventListener('abort', onAbort)
        if (answer === null) reject(fault)
        else resolve(answer)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const now = this.#clock.monotonicMs()
      if (via.waiting === 0) via.receivedMs = now
      via.waiting += 1
      this.#exchanges.set(id, { settle, via, sinceMs: now, pieces: [], length: 0 })
      this.#look ??= this.#clock.alarm(LOOK_MS, () => this.#lookAfter())
      via.link.send(id, request)
    })
  }

  #nextId(): number {
    do this.#lastId = this.#lastId >= ID_MAX ? 1 : this.#lastId + 1
    while (this.#exchanges.has(this.#lastId))
    return this.#lastId
  }

  /** A new link, in time for a request. @throws NodeFault */
  async #opened(): Promise<OpenLink> {
    const late = Promise.withResolvers<never>()
    using _limit = this.#clock.alarm(this.#limits.connectMs, () => late.reject(new Error('no link was opened in time')))
    try {
      return await Promise.race([this.#another(), late.promise])
    } catch (cause) {
      throw new NodeFault('nothing', 'no connection to the node', cause)
    }
  }

  #another(): Promise<OpenLink> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null
    })
    return this.#opening
  }

  async #connect(): Promise<OpenLink> {
    const { socket, keys, early } = await this.#open(this.#over.signal)
    const handlers = {
      frame: (id: number, kind: number, bytes: Buffer) => this.#frame(opened, id, kind, bytes),
      closed: () => this.#closed(opened)
    }
    const now = this.#clock.monotonicMs()
    const link = new Link(socket, { send: keys.toOwner, receive: keys.fromOwner }, handlers)
    const opened: OpenLink = { link, sinceMs: now, waiting: 0, receivedMs: now }
    const before = this.#current
    this.#current = opened
    if (before?.waiting === 0) before.link.destroy()
    link.begin(early)
    if (this.#over.signal.aborted) link.destroy()
    return opened
  }

  #frame(via: OpenLink, id: number, kind: number, bytes: Buffer): void {
    via.receivedMs = this.#clock.monotonicMs()
    const exchange = this.#exchanges.get(id)
    // The answer to a request that was given up, or to a ping.
    if (exchange?.via !== via || (kind !== FRAME.piece && kind !== FRAME.last)) return
    exchange.length += bytes.length
    const { answerMax } = this.#limits
    if (exchange.length > answerMax) {
      this.#giveUp(id, `the answer is longer than ${answerMax} bytes`)
      return
    }
    exchange.pieces.push(bytes)
    if (kind === FRAME.last) exchange.settle(null, decodeAnswer(exchange.pieces.length === 1 ? bytes : Buffer.concat(exchange.pieces)))
  }

  #giveUp(id: number, message: string): void {
    const exchange = this.#exchanges.get(id)
    if (exchange === undefined) return
    const { link } = exchange.via
    const isTakenBack = link.takeBack(id)
    if (!isTakenBack) link.signal(id, FRAME.cancel)
    exchange.settle(new NodeFault(isTakenBack ? 'nothing' : 'maybe', message), null)
  }

  #closed(closed: OpenLink): void {
    if (this.#current === closed) this.#current = null
    for (const [id, { settle, via }] of [...this.#exchanges]) {
      if (via !== closed) continue
      settle(new NodeFault(closed.link.isIncomplete(id) ? 'nothing' : 'maybe', 'the node gave no complete answer'), null)
    }
  }

  #links(): ReadonlySet<OpenLink> {
    const links = new Set([...this.#exchanges.values()].map(({ via }) => via))
    return this.#current === null ? links : links.add(this.#current)
  }

  #isInDoubt({ waiting, receivedMs }: OpenLink): boolean {
    return waiting > 0 && this.#clock.monotonicMs() - receivedMs >= this.#limits.doubtMs
  }

  #lookAfter(): void {
    this.#look = null
    const { answerMs } = this.#limits
    const now = this.#clock.monotonicMs()
    for (const [id, { sinceMs }] of [...this.#exchanges]) if (now - sinceMs >= answerMs) this.#giveUp(id, 'the node did not answer in time')
    for (const each of this.#links()) if (each.waiting > 0) this.#lookAt(each, now)
    if (this.#exchanges.size > 0) this.#look = this.#clock.alarm(LOOK_MS, () => this.#lookAfter())
  }

  /** A node that lives answers a question at once, so one that does so over another link only is not reached over this one. */
  #lookAt(each: OpenLink, now: number): void {
    const { quietMs, deadMs } = this.#limits
    const isReplaced = this.#current !== null && this.#current !== each && now - this.#current.sinceMs >= LOOK_MS
    const isInDoubt = this.#isInDoubt(each)
    if (now - each.receivedMs >= deadMs || (isInDoubt && isReplaced)) each.link.destroy()
    else if (now - each.receivedMs >= quietMs) each.link.signal(0, FRAME.ping)
    if (isInDoubt && this.#current === each) void this.#another().catch(() => undefined)
  }
}
