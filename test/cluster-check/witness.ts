// What the brokers see: from which node each account stream is read, and from which node each command comes.
import type { Json, SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import type { FaultProxy } from '@trunkline/testkit/fault-proxy/index'
import type { Machine } from './machine.ts'
import type { CheckedNode } from './node.ts'
import { type Command, CommandReader } from './request-reader.ts'

const LOOK_EVERY_MS = 100
/** Two undisturbed nodes that both read the same account stream for longer than this are two owners. */
const OVERLAP_MS_MAX = 2_000
/** A node that was disturbed may need so long to end, or to leave the streams. */
const RECOVERY_MS = 5_000
/** Around a command: who read the stream for so long before and after owned the account. */
const AROUND_COMMAND_MS = 600
/** What was sent so shortly ago is judged the next time. */
export const UNJUDGED_MS = AROUND_COMMAND_MS + OVERLAP_MS_MAX
/** The longest time without a look at the streams. */
const BLIND_MS_MAX = 3_000
/** On a late machine these times are longer by so many times its lateness. */
const STEPS = 4

interface Span {
  readonly login: string
  readonly node: number
  readonly from: number
  to: number
}

interface SentCommand extends Command {
  readonly node: number
  readonly at: number
}

/** A time in which something kept a node from its work; it may go on. */
export interface Disturbed {
  readonly from: number
  readonly to: number
}

export interface WitnessParts {
  readonly sandbox: Pick<SandboxProcess, 'control'>
  readonly nodes: readonly { readonly disturbances: CheckedNode['disturbances'] }[]
  /** Between each node and the brokers, in the order of the nodes. */
  readonly brokers: readonly Pick<FaultProxy, 'isPeer' | 'onSent'>[]
  readonly machine: Pick<Machine, 'lateMs'>
  /** The monotonic clock. */
  readonly nowMs: () => number
}

/** What a round had, which the witness must have seen. */
export interface Demanded {
  /** Logins, by group: of each group at least one account stream was read. */
  readonly streams: ReadonlyMap<string, readonly string[]>
  /** Quantities of orders that brokers have. */
  readonly orders: readonly number[]
}

/** Watches from the proxies between nodes and brokers, and asks the sandbox for its open streams. */
export class Witness {
  readonly #parts: WitnessParts
  /** By login and node. */
  readonly #open = new Map<string, Span>()
  /** By login, node and connection. */
  readonly #openStreams = new Map<string, Span>()
  readonly #loginOfToken = new Map<string, string>()
  readonly #quantities = new Set<number>()
  #spans: Span[] = []
  #streams: Span[] = []
  #sent: SentCommand[] = []
  #lookedAt: number
  #blindMs = 0
  #takenAt: number

  constructor(parts: WitnessParts) {
    this.#parts = parts
    this.#lookedAt = parts.nowMs()
    this.#takenAt = parts.nowMs()
    for (const [index, proxy] of parts.brokers.entries()) {
      const reader = new CommandReader(command => {
        if (command.quantity !== null) this.#quantities.add(command.quantity)
        this.#sent.push({ ...command, node: index + 1, at: parts.nowMs() })
      })
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
   * What contradicts a single owner since the last call, and what was not seen and should have been.
   * @param loginOf the login of the account in which the order with this quantity was placed
   */
  takeFaults(loginOf: (quantity: number) => string | null, demanded: Demanded): readonly string[] {
    const now = this.#parts.nowMs()
    for (const { token, quantity } of this.#sent) {
      const login = quantity === null ? null : loginOf(quantity)
      if (token !== null && login !== null && !this.#loginOfToken.has(token)) this.#loginOfToken.set(token, login)
    }
    // Of the last ones it is not seen yet who read the stream after them.
    const isJudged = ({ at }: SentCommand) => at < now - UNJUDGED_MS
    const judged = this.#sent.filter(isJudged)
    const foreign = judged.flatMap(command => this.#foreign(command, loginOf))
    const faults = [...this.#blind(demanded, now), ...this.#doubleReaders(this.#spans), ...foreign]
    const before = now - 2 * RECOVERY_MS
    this.#spans = this.#spans.filter(({ to }) => to > before)
    this.#streams = this.#streams.filter(({ to }) => to > before)
    this.#sent = this.#sent.filter(command => !isJudged(command))
    this.#blindMs = 0
    this.#takenAt = now
    return faults
  }

  /** Who reads which account stream now. */
  async look(): Promise<void> {
    const { items } = await this.#parts.sandbox.control('GET', '/streams')
    const now = this.#parts.nowMs()
    this.#blindMs = Math.max(this.#blindMs, now - this.#lookedAt)
    this.#lookedAt = now
    const seen = new Set<string>()
    for (const { on, login, peers } of items as readonly Json[]) {
      if (on !== 'account') continue
      for (const peer of peers) {
        const index = this.#parts.brokers.findIndex(proxy => proxy.isPeer(peer))
        if (index < 0) continue
        const span = { login: String(login), node: index + 1, from: now, to: now }
        for (const [key, open, all] of [
          [`${login} ${index + 1}`, this.#open, this.#spans],
          [`${login} ${index + 1} ${peer}`, this.#openStreams, this.#streams]
        ] as const) {
          seen.add(key)
          keep(key, { ...span }, open, all)
        }
      }
    }
    for (const open of [this.#open, this.#openStreams]) for (const key of open.keys()) if (!seen.has(key)) open.delete(key)
  }

  /** A witness that saw nothing has found nothing. */
  #blind({ streams, orders }: Demanded, now: number): readonly string[] {
    const blindMs = Math.max(this.#blindMs, now - this.#lookedAt)
    const seen = new Set(this.#spans.filter(({ to }) => to >= this.#takenAt).map(({ login }) => login))
    const unseen = orders.filter(quantity => !this.#quantities.has(quantity))
    return [
      ...(blindMs > BLIND_MS_MAX + this.#slackMs(this.#takenAt, now) ? [`nobody looked at the streams for ${Math.round(blindMs)} ms`] : []),
      ...[...streams]
        .filter(([, logins]) => !logins.some(login => seen.has(login)))
        .map(([name]) => `no account stream of ${name} was read`),
      ...(unseen.length === 0 ? [] : [`no node was seen to send the orders ${unseen.join(', ')}`])
    ]
  }

  #doubleReaders(spans: readonly Span[]): readonly string[] {
    const found: string[] = []
    for (const [index, one] of spans.entries()) {
      for (const other of spans.slice(index + 1)) {
        if (one.login !== other.login || one.node === other.node) continue
        const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)]
        if (to - from <= OVERLAP_MS_MAX) continue
        const overlap = this.#undisturbed([one.node, other.node], from, to)
        if (overlap > OVERLAP_MS_MAX + this.#slackMs(from, to))
          found.push(`nodes ${one.node} and ${other.node} both read the account stream of ${one.login} for ${Math.round(overlap)} ms`)
      }
    }
    return found
  }

  /** A command from a node while another one owns the account. */
  #foreign({ node, line, token, quantity, at }: SentCommand, loginOf: (quantity: number) => string | null): readonly string[] {
    const ofToken = token === null ? undefined : this.#loginOfToken.get(token)
    const login = (quantity === null ? null : loginOf(quantity)) ?? ofToken ?? null
    const what = `${line}${quantity === null ? '' : `, quantity ${quantity}`}`
    if (ofToken !== undefined && ofToken !== login) return [`node ${node} sent ${what} of ${login} with the token of ${ofToken}`]
    if (login === null) return [`node ${node} sent ${what} for a login that is not known`]
    const around = AROUND_COMMAND_MS + this.#slackMs(at - OVERLAP_MS_MAX, at + OVERLAP_MS_MAX)
    const [from, to] = [at - around, at + around]
    const own = this.#streams.filter(span => span.login === login && span.node === node && span.from < to && span.to > from)
    const ownFrom = Math.max(Number.NEGATIVE_INFINITY, ...own.map(span => span.from))
    const other = this.#streams.find(span => {
      if (span.login !== login || span.node === node || span.from >= from) return false
      // The sender's stream may stay open after another node became the owner: then the owner's began later. A sender that opens its stream
      // again is the owner only if the other's ends, as in a handover.
      const until = span.from > ownFrom ? to : to + OVERLAP_MS_MAX
      return span.to > until && this.#undisturbed([span.node], from, until) >= until - from
    })
    if (other === undefined) return []
    const during = (span: Span) => `${Math.round(span.from - at)} to ${Math.round(span.to - at)}`
    const when = `${during(other)} ms from it, its own: ${own.map(during).join(', ') || 'none'}`
    return [`node ${node} sent ${what}, while node ${other.node} read the stream of ${login} (${when})`]
  }

  /** How much longer than usual something may take between these instants. */
  #slackMs(from: number, to: number): number {
    return STEPS * this.#parts.machine.lateMs(from, to)
  }

  /** The longest time between two instants in which nothing kept these nodes from their work. */
  #undisturbed(nodes: readonly number[], from: number, to: number): number {
    const recoveryMs = RECOVERY_MS + this.#slackMs(from - RECOVERY_MS, to)
    const disturbed = nodes
      .flatMap(node => this.#parts.nodes[node - 1]?.disturbances ?? [])
      .filter(span => span.to > from - recoveryMs && span.from < to)
    let [longest, since] = [0, from]
    for (const span of disturbed.toSorted((a, b) => a.from - b.from)) {
      longest = Math.max(longest, span.from - since)
      since = Math.max(since, span.to + recoveryMs)
    }
    return Math.max(longest, to - since)
  }
}

/** Of something that was seen now: longer than before, or for the first time. */
function keep(key: string, span: Span, open: Map<string, Span>, all: Span[]): void {
  const known = open.get(key)
  if (known !== undefined) {
    known.to = span.to
    return
  }
  open.set(key, span)
  all.push(span)
}
