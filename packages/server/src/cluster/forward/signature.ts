/**
 * How nodes prove to each other that a request comes from a node of the same installation. The MAC names the receiving node, which is a
 * process with an id of its own, and a number that the sender uses once. So a recorded request is of no use at another node, after a
 * restart, or a second time, and no clock is compared.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { NodeId } from '@trunkline/core/domain/ids'
import type { Hasher } from '@trunkline/core/ports/vault'
import type { Allowance } from '../../auth/rate-limit.ts'
import type { PassedOn } from '../../http/passed-on.ts'
import { ReplayWindow } from './replay-window.ts'

/** The header with what the sender vouches for, and the MAC. */
export const SIGNATURE = 'trunkline-passed-on'
/** Headers of the client that the owner needs; all are signed. */
export const SIGNED_HEADERS = [
  'host',
  'content-type',
  'content-encoding',
  'client-id',
  'client-secret',
  'user-id',
  'user-secret',
  'x-request-id'
] as const

/** The key of the signatures, which every node with the same master keys has. */
export function signatureKey(hasher: Pick<Hasher, 'derive'>): Uint8Array {
  return hasher.derive('requests between nodes')
}

/** What is signed. */
export interface SignedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
}

/** What the sender vouches for. */
export interface Vouched {
  readonly address: string
  readonly platformAllowance: Allowance
  readonly body: Uint8Array
}

/** What a verified request brings. */
export interface Verified extends PassedOn {
  /** Whether these are the bytes that were signed. */
  isBody(bytes: string | Uint8Array): boolean
}

/** For what counts for no platform. */
export const NO_ALLOWANCE: Allowance = { limit: 0, remaining: 0, resetSeconds: 0, retryAfterSeconds: null }

/** Signs the requests of one sending node. `session`: an unpredictable id of this process. */
export class Signer {
  readonly #key: Uint8Array
  readonly #session: string
  #count = 0

  constructor(key: Uint8Array, session: string) {
    this.#key = key
    this.#session = session
  }

  /** The value of the header {@link SIGNATURE} for one request to `receiver`. */
  sign(receiver: NodeId, request: SignedRequest, { address, platformAllowance, body }: Vouched): string {
    const { limit, remaining, resetSeconds } = platformAllowance
    const fields = [this.#session, this.#count++, limit, remaining, resetSeconds, body.length, hash('sha256', body, 'hex'), address]
    const text = fields.join(' ')
    return `${text} ${macOf(this.#key, receiver, request, text).toString('hex')}`
  }
}

/** Senders are processes, so there are few in the life of a receiver. A further one is refused: to forget one would let it be replayed. */
const SESSIONS_MAX = 4_096
const FORM = /^([\w-]{16,64}) (\d{1,16}) (\d{1,9}) (\d{1,9}) (\d{1,9}) (\d{1,9}) ([0-9a-f]{64}) ([0-9A-Fa-f.:%\w-]{0,64}) ([0-9a-f]{64})$/

/** Verifies requests to this node. */
export class Verifier {
  readonly #key: Uint8Array
  readonly #nodeId: NodeId
  readonly #sessions = new Map<string, ReplayWindow>()

  constructor(key: Uint8Array, nodeId: NodeId) {
    this.#key = key
    this.#nodeId = nodeId
  }

  /** What the sender vouches for; null unless a node sent exactly this request to this one, for the first time. */
  verify(request: SignedRequest): Verified | null {
    const given = request.headers[SIGNATURE]
    const parts = typeof given === 'string' ? FORM.exec(given) : null
    if (parts === null) return null
    const [all = '', session = '', count, limit, remaining, reset, length = '', digest, address = '', mac = ''] = parts
    const expected = macOf(this.#key, this.#nodeId, request, all.slice(0, -mac.length - 1))
    if (!timingSafeEqual(expected, Buffer.from(mac, 'hex'))) return null
    if ((request.headers['content-length'] ?? '0') !== length || request.headers['transfer-encoding'] !== undefined) return null
    if (this.#windowOf(session)?.accept(Number(count)) !== true) return null
    const [allowed, left, resetSeconds] = [Number(limit), Number(remaining), Number(reset)]
    return {
      address,
      platformAllowance: { limit: allowed, remaining: left, resetSeconds, retryAfterSeconds: null },
      isBody: bytes => hash('sha256', bytes, 'hex') === digest
    }
  }

  #windowOf(session: string): ReplayWindow | null {
    const known = this.#sessions.get(session)
    if (known !== undefined || this.#sessions.size >= SESSIONS_MAX) return known ?? null
    const window = new ReplayWindow()
    this.#sessions.set(session, window)
    return window
  }
}

/** The answer's header in which a node proves that it has the key too, to a request with this {@link SIGNATURE}. */
export const PROOF = 'trunkline-proof'

export function proofOf(key: Uint8Array, signature: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['proof', signature]))
    .digest('hex')
}

function macOf(key: Uint8Array, receiver: NodeId, { method, url, headers }: SignedRequest, text: string): Buffer {
  const parts = [receiver, method, url, text, ...SIGNED_HEADERS.map(name => headers[name] ?? null)]
  return createHmac('sha256', key).update(JSON.stringify(parts), 'utf8').digest()
}
