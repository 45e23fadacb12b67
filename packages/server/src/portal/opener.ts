import type { AttemptId } from '@trunkline/core/domain/ids'
import { parseJson } from '@trunkline/core/domain/json'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SealedCookie } from './sealed-cookie.ts'

/** The page of a platform that opened a link with `connect.js`, and waits for its outcome in a message. */
export interface Opener {
  /** `frame`: the window was opened by our own page in a frame of the platform's, which passes the message on. */
  readonly mode: 'popup' | 'frame'
  /** Chosen by the platform's page for this link, and repeated in the message. */
  readonly nonce: string
}

const WRITTEN = /^(popup|frame)\.([\w-]{22})$/
/** Links that one browser may have open at once; an older one then ends with the redirect alone. */
const OPENERS_MAX = 4

/** From the query of a link, `connect=popup.…`; null if it is opened without `connect.js`. */
export function openerIn(query: unknown): Opener | null {
  return typeof query === 'object' && query !== null && 'connect' in query ? parseOpener(query.connect) : null
}

export function parseOpener(value: unknown): Opener | null {
  const text = typeof value === 'object' && value !== null && 'mode' in value && 'nonce' in value ? `${value.mode}.${value.nonce}` : value
  const [, mode, nonce = ''] = (typeof text === 'string' ? WRITTEN.exec(text) : null) ?? []
  return mode === 'popup' || mode === 'frame' ? { mode, nonce } : null
}

/** As it is written in a link's query. */
export function writtenOpener({ mode, nonce }: Opener): string {
  return `${mode}.${nonce}`
}

/** Remembers, in the browser, which links were opened with `connect.js`: where a visit ends, only its attempt is known. */
export class OpenerCookie {
  readonly #cookie: SealedCookie
  readonly #added = new WeakMap<FastifyRequest, readonly Entry[]>()

  constructor(cookie: SealedCookie) {
    this.#cookie = cookie
  }

  /** Also known to the rest of this request. `link`: a hash of the link's secret. */
  add(request: FastifyRequest, reply: FastifyReply, { attemptId, link, opener }: Opened): void {
    const others = this.#read(request).filter(([id]) => id !== attemptId)
    const entries = [[attemptId, link, writtenOpener(opener)] as const, ...others].slice(0, OPENERS_MAX)
    this.#added.set(request, entries)
    this.#cookie.set(reply, Buffer.from(JSON.stringify(entries)).toString('base64url'))
  }

  of(request: FastifyRequest, attemptId: AttemptId | null): Opener | null {
    const [, , written = null] = this.#read(request).find(([id]) => id === attemptId) ?? []
    return parseOpener(written)
  }

  /** Whether this link was opened so; null: any link. */
  has(request: FastifyRequest, link: string | null): boolean {
    return this.#read(request).some(([, known]) => link === null || link === known)
  }

  #read(request: FastifyRequest): readonly Entry[] {
    const text = this.#cookie.read(request)
    const value: unknown = text === null ? null : parseJson(Buffer.from(text, 'base64url').toString())
    return this.#added.get(request) ?? (Array.isArray(value) ? value.filter(isEntry) : [])
  }
}

interface Opened {
  readonly attemptId: AttemptId
  readonly link: string
  readonly opener: Opener
}

type Entry = readonly [attemptId: string, link: string, opener: string]

function isEntry(value: unknown): value is Entry {
  return Array.isArray(value) && value.length === 3 && value.every(part => typeof part === 'string')
}
