/** A TCP proxy that injects network faults: for tests of both sides. Real time, seeded chance. */

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { PATIENCE_MS } from '../patience.ts'
import { within } from '../within.ts'
import { BOTH_WAYS, type Conditions, type Direction, type LinkConditions, type LinkKind, UNIMPAIRED } from './conditions.ts'
import { Link } from './link.ts'
import type { RequestCut } from './request-cut.ts'
import { sever } from './sever.ts'
import type { Tampering } from './tampering.ts'

const HOST = '127.0.0.1'

/** How often the proxy did what. */
export interface ProxyCounts {
  readonly connections: number
  readonly refused: number
  readonly resets: number
}

export class FaultProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #links = new Set<Link>()
  readonly #conditions: Record<LinkKind, LinkConditions> = { stream: UNIMPAIRED, request: UNIMPAIRED }
  readonly #fraction: () => number
  #target = 0
  /** Called with what the client of a link sends, as it comes, whatever becomes of it. */
  onSent: (link: object, chunk: Buffer) => void = () => undefined
  #cut: RequestCut | null = null
  #tampering: () => Tampering | null = () => null
  #isRefusing = false
  #counts: ProxyCounts = { connections: 0, refused: 0, resets: 0 }

  private constructor(server: Server, fraction: () => number) {
    this.#server = server
    this.#fraction = fraction
  }

  /** @param fraction a number in [0, 1) each time, for jitter. */
  static async start(fraction: () => number = () => 0.5): Promise<FaultProxy> {
    const server = createServer({ allowHalfOpen: true, noDelay: true })
    const proxy = new FaultProxy(server, fraction)
    server.on('connection', socket => {
      proxy.#count('connections')
      if (!proxy.#isRefusing) return proxy.#open(socket)
      proxy.#count('refused')
      socket.on('error', () => undefined)
      sever(socket)
    })
    server.listen(0, HOST)
    await once(server, 'listening')
    return proxy
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
    return address.port
  }

  get url(): string {
    return `http://${HOST}:${this.port}`
  }

  get counts(): ProxyCounts {
    return this.#counts
  }

  /** Where connections go from now on. To be called before any client connects. */
  leadTo(port: number): void {
    this.#target = port
  }

  /** Connections of a kind that are open now. */
  open(kind: LinkKind): number {
    return this.#of(kind).length
  }

  /** Whether a connection to the server comes from this port of ours. */
  isPeer(port: number): boolean {
    return [...this.#links].some(link => link.serverPeer === port)
  }

  /** The conditions of a direction, for open and later connections of a kind; what is not named is clear. */
  set(kind: LinkKind, direction: Direction | 'both', conditions: Partial<Conditions>): void {
    const named = direction === 'both' ? BOTH_WAYS : [direction]
    const changes = Object.fromEntries(named.map(each => [each, { ...UNIMPAIRED[each], ...conditions }]))
    this.#conditions[kind] = { ...this.#conditions[kind], ...changes }
    for (const link of this.#links) link.changed()
  }

  /** New connections are reset at once, until `clear`. */
  refuse(): void {
    this.#isRefusing = true
  }

  /** RST on every open connection of a kind. Gives how many there were. */
  reset(kind: LinkKind): number {
    const links = this.#of(kind)
    for (const link of links) {
      this.#count('resets')
      link.reset()
    }
    return links.length
  }

  /** RST on every open connection of a kind after so many more bytes of a direction, drawn for each. Gives how many there are. */
  resetAfter(kind: LinkKind, direction: Direction, bytes: () => number): number {
    const links = this.#of(kind)
    for (const link of links) {
      this.#count('resets')
      link.resetAfter(direction, bytes())
    }
    return links.length
  }

  /** The next request that fits is cut, once. */
  arm(cut: RequestCut): void {
    this.#cut = cut
  }

  /** What is done to the messages of each open and later stream; `make` is called once for each. */
  tamper(make: () => Tampering | null): void {
    this.#tampering = make
    for (const link of this.#of('stream')) link.tamper(make())
  }

  /** Ends everything that is wrong from here on. What was held comes out. */
  clear(): void {
    this.#isRefusing = false
    this.#cut = null
    for (const kind of ['stream', 'request'] as const) this.set(kind, 'both', {})
    this.tamper(() => null)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = [...this.#links].map(link => link.gone())
    for (const link of this.#links) link.reset()
    this.#server.close()
    const ended = Promise.all([...gone, once(this.#server, 'close')])
    await within(PATIENCE_MS, ended, () => `the proxy's ${this.#links.size} last connections were gone`)
  }

  #of(kind: LinkKind): readonly Link[] {
    return [...this.#links].filter(link => link.kind === kind)
  }

  #open(socket: ConstructorParameters<typeof Link>[0]): void {
    const link = new Link(socket, {
      host: HOST,
      port: this.#target,
      conditions: kind => this.#conditions[kind],
      takeCut: head => this.#take(head),
      tampering: () => this.#tampering(),
      fraction: this.#fraction,
      onSent: (link, chunk) => this.onSent(link, chunk)
    })
    this.#links.add(link)
    void link.gone().then(() => this.#links.delete(link))
  }

  #take(head: string): RequestCut | null {
    const cut = this.#cut
    if (cut === null || !head.startsWith(cut.request)) return null
    this.#cut = null
    return cut
  }

  #count(what: keyof ProxyCounts): void {
    this.#counts = { ...this.#counts, [what]: this.#counts[what] + 1 }
  }
}
