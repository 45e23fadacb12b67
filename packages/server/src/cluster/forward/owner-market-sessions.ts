import type { UserKey } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { OwnerNode, Ownership } from '@trunkline/core/ports/ownership'
import { type RawData, WebSocket } from 'ws'
import { CLOSE } from '../../stream/client-connection.ts'
import type { OwnerReceiver, OwnerSession, OwnerSessions } from '../../stream/market/owner-sessions.ts'
import { NO_ALLOWANCE, PROOF, proofOf, SIGNATURE, type Signer } from './signature.ts'

/** The path of passed-through sessions on the listener between nodes. */
export const MARKET_PATH = '/nodes/market-data/stream'

interface MarketSessionsDeps {
  readonly ownership: Pick<Ownership, 'ownerOf' | 'changed'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'alarm'>
  readonly signer: Signer
  /** Of the signatures. */
  readonly key: Uint8Array
}

export interface MarketSessionsLimits {
  /** How long a session waits for an owner that takes it. */
  readonly ownerMs: number
  readonly handshakeMs: number
  /** A session whose node has lost the user is closed after this time, if the node has not closed it. */
  readonly formerOwnerMs: number
}

export const MARKET_SESSIONS_LIMITS: MarketSessionsLimits = { ownerMs: 5_000, handshakeMs: 2_000, formerOwnerMs: 2_000 }

/** The pause before a node that took no session is tried again, if no owner changes meanwhile. */
const PAUSE_MS = 100
/** How often the owners of open sessions are looked at. */
const LOOK_MS = 1_000
/** The largest message of an owner: a snapshot. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024
const NO_BODY = Buffer.alloc(0)
/** Options of `ws` that its type declarations lack. */
const BOUNDS = { closeTimeout: 2_000 }

/** Opens market data sessions at the nodes that own their users, over WebSockets between the nodes. */
export class OwnerMarketSessions implements OwnerSessions {
  readonly #deps: MarketSessionsDeps
  readonly #limits: MarketSessionsLimits
  readonly #open = new Set<PassedSession>()
  #look: Disposable | null = null

  constructor(deps: MarketSessionsDeps, limits: MarketSessionsLimits = MARKET_SESSIONS_LIMITS) {
    this.#deps = deps
    this.#limits = limits
  }

  get count(): number {
    return this.#open.size
  }

  isElsewhere(userKey: UserKey): boolean {
    return this.#deps.ownership.ownerOf(userKey).kind !== 'this'
  }

  async open(userKey: UserKey, address: string, receiver: OwnerReceiver): Promise<OwnerSession | null> {
    const { ownership, clock } = this.#deps
    const endsAt = clock.monotonicMs() + this.#limits.ownerMs
    for (;;) {
      const owner = ownership.ownerOf(userKey)
      if (owner.kind === 'this') return null
      const session = owner.kind === 'other' ? await this.#attempt(owner.node, userKey, address, receiver) : null
      if (session !== null) return session
      const left = endsAt - clock.monotonicMs()
      if (left <= 0) throw new Error('no node takes the session')
      await ownership.changed(Math.min(left, owner.kind === 'none' ? left : PAUSE_MS))
    }
  }

  stop(): void {
    this.#look?.[Symbol.dispose]()
    this.#look = null
    for (const session of this.#open) session.end()
  }

  async #attempt(node: OwnerNode, userKey: UserKey, address: string, receiver: OwnerReceiver): Promise<OwnerSession | null> {
    const headers: Record<string, string> = { host: 'trunkline' }
    const vouched = { address, platformAllowance: NO_ALLOWANCE, body: NO_BODY }
    const signature = this.#deps.signer.sign(node.nodeId, { method: 'GET', url: MARKET_PATH, headers }, vouched)
    headers[SIGNATURE] = signature
    const ws = new WebSocket(`${node.url.replace(/^http/, 'ws')}${MARKET_PATH}`, {
      ...{ headers, handshakeTimeout: this.#limits.handshakeMs, perMessageDeflate: false, maxPayload: MESSAGE_BYTES_MAX },
      ...BOUNDS
    })
    const proof = proofOf(this.#deps.key, signature)
    const session = new PassedSession(ws, { node, proof }, userKey, receiver, () => void this.#open.delete(session))
    if (!(await session.opened)) return null
    this.#open.add(session)
    this.#look ??= this.#deps.clock.alarm(LOOK_MS, () => this.#lookAtOwners())
    return session
  }

  /** A node that is paused, or cut off, closes nothing. */
  #lookAtOwners(): void {
    const { ownership, clock } = this.#deps
    const now = clock.monotonicMs()
    for (const session of this.#open) {
      const owner = ownership.ownerOf(session.userKey)
      if (owner.kind === 'other' && owner.node.nodeId === session.node.nodeId) session.lostAt = null
      else if (session.lostAt === null) session.lostAt = now
      else if (now - session.lostAt >= this.#limits.formerOwnerMs) session.lose()
    }
    this.#look = this.#open.size === 0 ? null : clock.alarm(LOOK_MS, () => this.#lookAtOwners())
  }
}

const GONE = 'the node that served this session is gone; connect again'
/** Bytes that may wait for the owner before the client is read no further. */
const WAITING_MAX = 64 * 1024

class PassedSession implements OwnerSession {
  readonly node: OwnerNode
  readonly userKey: UserKey
  /** Whether the handshake succeeded, with a node of the installation. */
  readonly opened: Promise<boolean>
  /** Since when another node owns the user, by the monotonic clock. */
  lostAt: number | null = null
  readonly #ws: WebSocket
  #receiver: OwnerReceiver | null
  readonly #gone: () => void

  /** @param at the node, and how it proves that it is one: a session's first message is a secret */
  constructor(
    ws: WebSocket,
    at: { readonly node: OwnerNode; readonly proof: string },
    userKey: UserKey,
    receiver: OwnerReceiver,
    gone: () => void
  ) {
    this.#ws = ws
    this.node = at.node
    this.userKey = userKey
    this.#receiver = receiver
    this.#gone = gone
    this.opened = new Promise(resolve => {
      let isProven = false
      ws.once('upgrade', ({ headers }) => {
        isProven = headers[PROOF] === at.proof
      })
      ws.once('open', () => {
        // Not before: an attempt that fails is followed by another one, and ends nothing for the client.
        ws.on('close', (code, reason) => this.#closed(code, reason.toString('utf8')))
        if (!isProven) ws.terminate()
        resolve(isProven)
      })
      ws.once('close', () => resolve(false))
    })
    // What follows an error is a close.
    ws.on('error', () => undefined)
    ws.on('message', data => this.#receiver?.message(bytesOf(data)))
  }

  send(message: string): Promise<void> | undefined {
    if (this.#ws.bufferedAmount <= WAITING_MAX) {
      this.#ws.send(message, () => undefined)
      return undefined
    }
    // A failure closes the socket, which ends the session.
    return new Promise(resolve => this.#ws.send(message, () => resolve()))
  }

  pause(): void {
    this.#ws.pause()
  }

  resume(): void {
    this.#ws.resume()
  }

  end(): void {
    this.#receiver = null
    this.#gone()
    // A paused socket would not read the answer to the close.
    this.#ws.resume()
    this.#ws.close(NORMAL)
  }

  /** Ends it as if the node had ended. */
  lose(): void {
    this.#closed(ABNORMAL, '')
    this.end()
  }

  #closed(code: number, reason: string): void {
    const receiver = this.#receiver
    this.#receiver = null
    this.#gone()
    if (code === ABNORMAL) receiver?.closed(CLOSE.goingAway, GONE)
    else receiver?.closed(code === NO_CODE ? NORMAL : code, reason)
  }
}

const NORMAL = 1000
/** What `ws` reports for a close frame without a code, and for a connection that ended without one. */
const NO_CODE = 1005
const ABNORMAL = 1006

function bytesOf(data: RawData): Uint8Array {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : new Uint8Array(data)
}
