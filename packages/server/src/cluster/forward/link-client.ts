import type { Clock } from '@trunkline/core/ports/clock'
import { FRAME, Link } from './link.ts'
import type { OpenedLink } from './link-opening.ts'
import { type NodeAnswer, NodeFault } from './node-client.ts'
import { decodeAnswer } from './passed-codec.ts'

export interface LinkLimits {
  /** Requests under way to one node. */
  readonly underWayMax: number
  /** From the request to its complete answer. */
  readonly answerMs: number
  /** Bytes of an answer. The largest have a few MiB. */
  readonly answerMax: number
  /** A node that is waited for and sends nothing is asked after this time whether it lives, … */
  readonly quietMs: number
  /** … and is given up after this one. */
  readonly deadMs: number
}

interface Exchange {
  readonly settle: (fault: NodeFault | null, answer: NodeAnswer | null) => void
  readonly sinceMs: number
  readonly pieces: Buffer[]
  length: number
}

const ID_MAX = 0xffff_ffff
const LOOK_MS = 1_000

/** Requests to one other node, over one link at a time, which is opened when it is needed. */
export class LinkClient {
  readonly #open: () => Promise<OpenedLink>
  readonly #limits: LinkLimits
  readonly #clock: Pick<Clock, 'monotonicMs' | 'alarm'>
  readonly #exchanges = new Map<number, Exchange>()
  #opening: Promise<Link> | null = null
  #link: Link | null = null
  #lastId = 0
  #receivedMs = 0
  #look: Disposable | null = null
  #isOver = false

  constructor(open: () => Promise<OpenedLink>, limits: LinkLimits, clock: Pick<Clock, 'monotonicMs' | 'alarm'>) {
    this.#open = open
    this.#limits = limits
    this.#clock = clock
  }

  /** Sends once. Any status is an answer. @throws NodeFault */
  async send(request: Buffer, signal: AbortSignal): Promise<NodeAnswer> {
    const link = this.#link ?? (await this.#opened())
    if (signal.aborted || link.isClosed) throw new NodeFault('nothing', 'no connection to the node')
    if (this.#exchanges.size >= this.#limits.underWayMax) throw new NodeFault('nothing', 'too many requests are under way to the node')
    return await this.#exchange(link, request, signal)
  }

  /** Requests end as faults. */
  cut(): void {
    this.#isOver = true
    this.#link?.destroy()
  }

  #exchange(link: Link, request: Buffer, signal: AbortSignal): Promise<NodeAnswer> {
    const id = this.#nextId()
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#giveUp(id, 'given up while waiting for the node')
      const settle: Exchange['settle'] = (fault, answer) => {
        this.#exchanges.delete(id)
        signal.removeEventListener('abort', onAbort)
        if (answer === null) reject(fault)
        else resolve(answer)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const now = this.#clock.monotonicMs()
      if (this.#exchanges.size === 0) this.#receivedMs = now
      this.#exchanges.set(id, { settle, sinceMs: now, pieces: [], length: 0 })
      this.#look ??= this.#clock.alarm(LOOK_MS, () => this.#lookAfter())
      link.send(id, request)
    })
  }

  #nextId(): number {
    do this.#lastId = this.#lastId >= ID_MAX ? 1 : this.#lastId + 1
    while (this.#exchanges.has(this.#lastId))
    return this.#lastId
  }

  /** @throws NodeFault */
  async #opened(): Promise<Link> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null
    })
    try {
      return await this.#opening
    } catch (cause) {
      throw new NodeFault('nothing', 'no connection to the node', cause)
    }
  }

  async #connect(): Promise<Link> {
    const { socket, keys, early } = await this.#open()
    const link: Link = new Link(
      socket,
      { send: keys.toOwner, receive: keys.fromOwner },
      {
        frame: (id, kind, bytes) => this.#frame(id, kind, bytes),
        closed: () => this.#closed(link)
      }
    )
    this.#link = link
    link.begin(early)
    if (this.#isOver) link.destroy()
    return link
  }

  #frame(id: number, kind: number, bytes: Buffer): void {
    this.#receivedMs = this.#clock.monotonicMs()
    const exchange = this.#exchanges.get(id)
    // The answer to a request that was given up, or to a ping.
    if (exchange === undefined || (kind !== FRAME.piece && kind !== FRAME.last)) return
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
    const isTakenBack = this.#link?.takeBack(id) === true
    if (!isTakenBack) this.#link?.signal(id, FRAME.cancel)
    exchange.settle(new NodeFault(isTakenBack ? 'nothing' : 'maybe', message), null)
  }

  #closed(link: Link): void {
    this.#link = null
    for (const [id, { settle }] of [...this.#exchanges]) {
      settle(new NodeFault(link.isIncomplete(id) ? 'nothing' : 'maybe', 'the node gave no complete answer'), null)
    }
  }

  #lookAfter(): void {
    this.#look = null
    if (this.#exchanges.size === 0) return
    const { answerMs, quietMs, deadMs } = this.#limits
    const now = this.#clock.monotonicMs()
    for (const [id, { sinceMs }] of [...this.#exchanges]) if (now - sinceMs >= answerMs) this.#giveUp(id, 'the node did not answer in time')
    if (now - this.#receivedMs >= deadMs) this.#link?.destroy()
    else if (now - this.#receivedMs >= quietMs) this.#link?.signal(0, FRAME.ping)
    if (this.#exchanges.size > 0) this.#look = this.#clock.alarm(LOOK_MS, () => this.#lookAfter())
  }
}
