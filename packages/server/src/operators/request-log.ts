// The newest requests of this process, and the newest that failed: for operators, in memory, gone with the process.

/** One answered request. It has the route's pattern and no query, header or body, so there is nothing in it to redact. */
export interface AnsweredRequest {
  readonly at: string
  readonly requestId: string
  readonly method: string
  readonly route: string
  readonly status: number
  /** The code of the error; null: there was none. */
  readonly code: string | null
  readonly milliseconds: number
  /** Null: it had no valid credentials of a platform. */
  readonly platformId: string | null
  readonly userKey: string | null
  readonly address: string
}

/** A minute that had requests. */
export interface TrafficMinute {
  /** Its beginning, in milliseconds since the epoch. */
  readonly atMs: number
  readonly requests: number
  /** Those with a status from 400, by code; `status_…` without a code of ours. */
  readonly errors: Readonly<Record<string, number>>
}

const KEPT = 2_000
const MINUTES = 24 * 60
const MINUTE_MS = 60_000

interface Kept {
  /** In the order in which they were answered. */
  readonly number: number
  readonly request: AnsweredRequest
}

interface Minute {
  readonly minute: number
  requests: number
  readonly errors: Map<string, number>
}

/** The console reads by itself, every few seconds: what succeeds of that would displace what operators look for. */
const OWN = /^\/(?:console|admin)(?:\/|$)/

/**
 * Keeps the last 2,000 requests, and apart from them the last 2,000 that failed (status from 400), so that neither displaces the other; and
 * counts by minute for a day. The codes are a closed list, so the counts are bounded.
 */
export class RequestLog {
  readonly #nowMs: () => number
  readonly #all: Kept[] = []
  readonly #failed: Kept[] = []
  #count = 0
  /** Oldest first. */
  readonly #minutes: Minute[] = []
  #next = { all: 0, failed: 0 }

  /** @param nowMs milliseconds since the epoch */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Requests of the console and its API are no traffic, and are kept only if they fail. */
  add(request: AnsweredRequest): void {
    const isFailed = request.status >= 400
    const isOwn = OWN.test(request.route)
    if (!isFailed && isOwn) return
    this.#count += 1
    const kept = { number: this.#count, request }
    this.#next.all = put(this.#all, this.#next.all, kept)
    if (isFailed) this.#next.failed = put(this.#failed, this.#next.failed, kept)
    if (isOwn) return
    const minute = this.#minute()
    minute.requests += 1
    if (!isFailed) return
    const code = request.code ?? `status_${request.status}`
    minute.errors.set(code, (minute.errors.get(code) ?? 0) + 1)
  }

  /** Newest first. `all`: also failures that later successes have displaced from the last 2,000. */
  newest(which: 'all' | 'failed', limit: number, fits: (request: AnsweredRequest) => boolean): readonly AnsweredRequest[] {
    const kept = which === 'failed' ? this.#failed : [...new Set([...this.#all, ...this.#failed])]
    const wanted = kept.filter(({ request }) => fits(request)).sort((a, b) => b.number - a.number)
    return wanted.slice(0, limit).map(({ request }) => request)
  }

  /** The minutes of the last 24 hours that had requests, the oldest first. */
  minutes(): readonly TrafficMinute[] {
    const from = Math.floor(this.#nowMs() / MINUTE_MS) - MINUTES
    const kept = this.#minutes.filter(({ minute }) => minute > from)
    return kept.map(({ minute, requests, errors }) => ({ atMs: minute * MINUTE_MS, requests, errors: Object.fromEntries(errors) }))
  }

  #minute(): Minute {
    const minute = Math.floor(this.#nowMs() / MINUTE_MS)
    const known = this.#minutes.at(-1)
    // A clock that was set back counts into the newest minute until it has caught up.
    if (known !== undefined && known.minute >= minute) return known
    const made: Minute = { minute, requests: 0, errors: new Map() }
    this.#minutes.push(made)
    if (this.#minutes.length > MINUTES) this.#minutes.shift()
    return made
  }
}

/** Puts the item into the ring; returns where the next one goes. */
function put<Item>(ring: Item[], next: number, item: Item): number {
  if (ring.length < KEPT) {
    ring.push(item)
    return 0
  }
  ring[next] = item
  return (next + 1) % KEPT
}
