// The links of one node, each through a proxy of its own that can be cut, held in either direction, and slowed down.
import { type Direction, FaultProxy } from '@trunkline/testkit/fault-proxy/index'

export const LINKS = ['database', 'nats', 'brokers', 'next node', 'last node'] as const
/** From the node: with three nodes, the `next` one of node 3 is node 1, and the `last` one of node 1 is node 3. */
export type LinkName = (typeof LINKS)[number]

/** `cut`: reset, and refused. `held`: nothing comes out. `deaf`: no answer comes back. `dumb`: no request gets through. */
export const LINK_FAULTS = ['cut', 'held', 'deaf', 'dumb', 'slow'] as const
export type LinkFault = (typeof LINK_FAULTS)[number]

const HELD: Readonly<Partial<Record<LinkFault, Direction | 'both'>>> = { held: 'both', deaf: 'toClient', dumb: 'toServer' }
const KINDS_OF_LINK = ['stream', 'request'] as const
const SLOW = { latencyMs: 40, jitterMs: 30 }

export class NodeLinks implements AsyncDisposable {
  readonly #proxies: Readonly<Record<LinkName, FaultProxy>>
  readonly #impaired = new Set<LinkName>()

  private constructor(proxies: Readonly<Record<LinkName, FaultProxy>>) {
    this.#proxies = proxies
  }

  /** @param ports where each leads to; 0 where that is not known yet */
  static async open(ports: Readonly<Record<LinkName, number>>, fraction: () => number): Promise<NodeLinks> {
    const open = async (name: LinkName) => {
      const proxy = await FaultProxy.start(fraction)
      proxy.leadTo(ports[name])
      return proxy
    }
    return new NodeLinks({
      database: await open('database'),
      nats: await open('nats'),
      brokers: await open('brokers'),
      'next node': await open('next node'),
      'last node': await open('last node')
    })
  }

  proxy(name: LinkName): FaultProxy {
    return this.#proxies[name]
  }

  isImpaired(name: LinkName): boolean {
    return this.#impaired.has(name)
  }

  impair(name: LinkName, fault: LinkFault): void {
    const proxy = this.#proxies[name]
    this.#impaired.add(name)
    const direction = HELD[fault]
    for (const kind of KINDS_OF_LINK) {
      if (fault === 'slow') proxy.set(kind, 'both', SLOW)
      else if (direction !== undefined) proxy.set(kind, direction, { held: true })
    }
    if (fault !== 'cut') return
    proxy.refuse()
    for (const kind of KINDS_OF_LINK) proxy.reset(kind)
  }

  /** What was held comes out. */
  clear(name: LinkName): void {
    this.#impaired.delete(name)
    this.#proxies[name].clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of LINKS) this.clear(name)
    await Promise.all(Object.values(this.#proxies).map(proxy => proxy[Symbol.asyncDispose]()))
  }
}
