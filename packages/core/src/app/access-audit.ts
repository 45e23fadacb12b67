import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { AuditEntry, AuditStore } from '../ports/store.ts'

const WINDOW_MS = 60_000
/** Most kinds of refusal counted separately in a window; the rest is counted together. */
const KINDS_MAX = 64

/** A refused access: who, from where, and why. */
export interface RefusedAccess {
  /** Invalid credentials, valid ones without the permission, or a portal page that belongs to no attempt. */
  readonly action: 'access.failed' | 'access.denied' | 'connection.callback'
  /** `anonymous`, `platform:<id>` or `user:<key>`. */
  readonly actor: string
  /** Where it was tried: `rest`, `stream`, `market`; at the portal the broker, or `unknown`. */
  readonly target: string
  /** A code, never a value that was sent. */
  readonly reason: string
  readonly ip: string | null
  /** The address group that it is counted under. */
  readonly group: string
  readonly requestId: string | null
}

interface Counted {
  readonly first: RefusedAccess
  /** Since the last entry. */
  times: number
}

/**
 * Records refused accesses in the audit log without letting an attacker fill it. The first of a kind (address, actor, target and reason) is
 * written at once, the others of the same minute as one entry with their number. At most 64 kinds a minute have their own entries; one more
 * entry holds the rest.
 */
export class AccessAudit {
  readonly #audit: Pick<AuditStore, 'append'>
  readonly #clock: Clock
  readonly #log: Log
  readonly #kinds = new Map<string, Counted>()
  #window: Disposable | null = null
  #written: Promise<void> = Promise.resolve()

  constructor({
    store,
    clock,
    log
  }: { readonly store: { readonly audit: Pick<AuditStore, 'append'> }; readonly clock: Clock; readonly log: Log }) {
    this.#audit = store.audit
    this.#clock = clock
    this.#log = log
  }

  /** Never throws and never waits. */
  note(refused: RefusedAccess): void {
    this.#window ??= this.#clock.alarm(WINDOW_MS, () => this.#close())
    const kind = `${refused.action} ${refused.actor} ${refused.target} ${refused.reason} ${refused.group}`
    const known = this.#kinds.get(kind) ?? this.#rest()
    if (known !== undefined) {
      known.times += 1
      return
    }
    this.#kinds.set(kind, { first: refused, times: 0 })
    this.#write(refused, 1)
  }

  /** Writes the entries that are only counted so far. */
  async stop(): Promise<void> {
    this.#close()
    await this.#written
  }

  /** The counter for everything beyond `KINDS_MAX`; undefined while another kind fits. */
  #rest(): Counted | undefined {
    if (this.#kinds.size < KINDS_MAX) return undefined
    const rest = this.#kinds.get(REST) ?? { first: OTHERS, times: 0 }
    this.#kinds.set(REST, rest)
    return rest
  }

  #close(): void {
    this.#window?.[Symbol.dispose]()
    this.#window = null
    for (const { first, times } of this.#kinds.values()) if (times > 0) this.#write(first, times)
    this.#kinds.clear()
  }

  #write({ action, actor, target, reason, ip, group, requestId }: RefusedAccess, times: number): void {
    const detail = { reason, from: group, times }
    const entry: AuditEntry = { at: this.#clock.now(), actor, action, target, result: 'refused', ip, requestId, detail }
    // One after the other, so that a slow store has one write at a time.
    this.#written = this.#written.then(() => this.#append(entry))
  }

  async #append(entry: AuditEntry): Promise<void> {
    try {
      await this.#audit.append(entry)
    } catch (cause) {
      this.#log.warn('a refused access could not be audited', { action: entry.action, requestId: entry.requestId, cause })
    }
  }
}

const REST = 'others'
const OTHERS: RefusedAccess = {
  action: 'access.failed',
  actor: 'anonymous',
  target: 'any',
  reason: 'more_kinds_than_are_kept_apart',
  ip: null,
  group: 'many',
  requestId: null
}
