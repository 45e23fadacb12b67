// What the brokers see: from which node each account stream is read, and from which node each order comes.
import type { Json, SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import type { FaultProxy } from '@trunkline/testkit/fault-proxy/index'
import type { CheckedNode } from './node.ts'

const LOOK_EVERY_MS = 100
/** Two undisturbed nodes that both read the same account stream for longer than this are two owners. */
const OVERLAP_MS_MAX = 2_000
/** A node that was disturbed may need so long to end, or to leave the streams. */
const RECOVERY_MS = 5_000
/** Around an order: who read the stream for so long before and after owned the account. */
const AROUND_ORDER_MS = 600
const HEAD_END = '\r\n\r\n'
const BODY_MAX = 64 * 1024

interface Span {
  readonly login: string
  readonly node: number
  readonly from: number
  to: number
}

interface SentOrder {
  readonly node: number
  readonly quantity: number
  readonly at: number
}

export interface WitnessParts {
  readonly sandbox: Pick<SandboxProcess, 'control'>
  readonly nodes: readonly Pick<CheckedNode, 'disturbedAt'>[]
  /** Between each node and the brokers, in the order of the nodes. */
  readonly brokers: readonly Pick<FaultProxy, 'isPeer' | 'onSent'>[]
  /** The monotonic clock. */
  readonly nowMs: () => number
}

/** Watches from the proxies between nodes and brokers, and asks the sandbox for its open streams. */
export class Witness {
  readonly #parts: WitnessParts
  readonly #open = new Map<string, Span>()
  #spans: Span[] = []
  #sent: SentOrder[] = []

  constructor(parts: WitnessParts) {
    this.#parts = parts
    for (const [index, proxy] of parts.brokers.entries()) {
      const reader = new RequestReader((line, body) => this.#onRequest(index + 1, line, body))
      proxy.onSent = (from, chunk) => reader.push(from, chunk)
    }
  }

  /** Looks again and again, until it is disposed. */
  watch(): AsyncDisposable {
    const over = new AbortController()
    const looking = (async () => {
      while (!over.signal.aborted) {
        await this.look().catch(() => undefined)
        await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
      }
    })()
    return {
      async [Symbol.asyncDispose]() {
        over.abort()
        await looking
      }
    }
  }

  /** The node that reads the account stream of a login, as seen last; null if none or several do. */
  holderOf(login: string): number | null {
    const holders = new Set([...this.#open.values()].filter(span => span.login === login).map(({ node }) => node))
    const [holder = null] = holders
    return holders.size === 1 ? holder : null
  }

  /**
   * What contradicts a single owner since the last call.
   * @param loginOf the login of the account in which the order with this quantity was placed
   */
  takeFaults(loginOf: (quantity: number) => string | null): readonly string[] {
    const spans = this.#spans
    const faults = [...this.#doubleReaders(spans), ...this.#foreignOrders(spans, loginOf)]
    const before = this.#parts.nowMs() - 2 * RECOVERY_MS
    this.#spans = spans.filter(({ to }) => to > before)
    this.#sent = []
    return faults
  }

  /** Who reads which account stream now. */
  async look(): Promise<void> {
    const { items } = await this.#parts.sandbox.control('GET', '/streams')
    const now = this.#parts.nowMs()
    const seen = new Set<string>()
    for (const { on, login, peers } of items as readonly Json[]) {
      if (on !== 'account') continue
      for (const peer of peers) {
        const index = this.#parts.brokers.findIndex(proxy => proxy.isPeer(peer))
        if (index < 0) continue
        const key = `${login} ${index + 1}`
        seen.add(key)
        const span = this.#open.get(key)
        if (span !== undefined) span.to = now
        else this.#begin(key, { login, node: index + 1, from: now, to: now })
      }
    }
    for (const key of this.#open.keys()) if (!seen.has(key)) this.#open.delete(key)
  }

  #begin(key: string, span: Span): void {
    this.#open.set(key, span)
    this.#spans.push(span)
  }

  #doubleReaders(spans: readonly Span[]): readonly string[] {
    const found: string[] = []
    for (const [index, one] of spans.entries()) {
      for (const other of spans.slice(index + 1)) {
        if (one.login !== other.login || one.node === other.node) continue
        const overlap = this.#undisturbed([one.node, other.node], Math.max(one.from, other.from), Math.min(one.to, other.to))
        if (overlap > OVERLAP_MS_MAX)
          found.push(`nodes ${one.node} and ${other.node} both read the account stream of ${one.login} for ${Math.round(overlap)} ms`)
      }
    }
    return found
  }

  /** An order from a node while another one, undisturbed, reads the account's stream. */
  #foreignOrders(spans: readonly Span[], loginOf: (quantity: number) => string | null): readonly string[] {
    return this.#sent.flatMap(({ node, quantity, at }) => {
      const login = loginOf(quantity)
      const [from, to] = [at - AROUND_ORDER_MS, at + AROUND_ORDER_MS]
      const readers = spans.filter(span => span.login === login && span.from < from && span.to > to)
      const isOwn = spans.some(span => span.login === login && span.node === node && span.from < to && span.to > from)
      const other = readers.find(reader => reader.node !== node && this.#undisturbed([reader.node], from, to) === to - from)
      return other === undefined || isOwn
        ? []
        : [`node ${node} sent order ${quantity} while node ${other.node} read the stream of ${login}`]
    })
  }

  /** The longest time between two instants in which nothing kept these nodes from their work. */
  #undisturbed(nodes: readonly number[], from: number, to: number): number {
    const instants = nodes.flatMap(node => this.#parts.nodes[node - 1]?.disturbedAt ?? []).filter(at => at > from - RECOVERY_MS && at < to)
    let [longest, since] = [0, from]
    for (const at of instants.toSorted((a, b) => a - b)) {
      longest = Math.max(longest, at - since)
      since = Math.max(since, at + RECOVERY_MS)
    }
    return Math.max(longest, to - since)
  }

  #onRequest(node: number, line: string, body: string): void {
    if (!/^POST \S*orders/i.test(line) || /preview|confirm/i.test(line)) return
    const quantity = /(?:"(?:quantity|qty)":"|(?:^|&)quantity=)(\d+)/i.exec(body)?.[1]
    if (quantity !== undefined) this.#sent.push({ node, quantity: Number(quantity), at: this.#parts.nowMs() })
  }
}

/** Cuts what HTTP clients send into requests, by connection. What is no HTTP/1.1 with a length is left alone. */
class RequestReader {
  readonly #rest = new WeakMap<object, string | null>()
  readonly #onRequest: (line: string, body: string) => void

  constructor(onRequest: (line: string, body: string) => void) {
    this.#onRequest = onRequest
  }

  push(link: object, chunk: Buffer): void {
    const known = this.#rest.get(link)
    // It is no HTTP any more.
    if (known === null) return
    let rest: string | null = (known ?? '') + chunk.toString('latin1')
    while (rest !== null) {
      const end = rest.indexOf(HEAD_END)
      if (end < 0) break
      const head = rest.slice(0, end)
      if (/\r\nupgrade:/i.test(head)) rest = null
      else {
        const bodyAt = end + HEAD_END.length
        const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
        if (rest.length < bodyAt + length) break
        this.#onRequest(head.slice(0, head.indexOf('\r\n')), rest.slice(bodyAt, bodyAt + length))
        rest = rest.slice(bodyAt + length)
      }
    }
    this.#rest.set(link, rest !== null && rest.length > BODY_MAX ? null : rest)
  }
}
