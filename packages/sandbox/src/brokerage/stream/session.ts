/** One login's session on an account stream: its position, and the events it has missed. */

import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { Channel, Numbered } from './channel.ts'
import type { Denied, StreamConnection, StreamProtocol } from './connection.ts'

export interface AccountSessionDeps {
  /** Counts the connection for its login; otherwise returns the refusal. */
  readonly enrol: () => Denied | undefined
  readonly epoch: () => string
  readonly channel: (login: string) => Channel
  readonly heartbeatMs: number
  readonly accountsOf: (login: string) => readonly string[]
  readonly stamp: () => string
}

interface Resume {
  readonly epoch: string
  readonly after: number
}

export class AccountSession implements StreamProtocol {
  readonly garbled = '{"ev":"order","seq":'
  readonly #connection: StreamConnection
  readonly #deps: AccountSessionDeps
  #missed: readonly Numbered[] = []
  #channel: Channel | undefined

  constructor(connection: StreamConnection, deps: AccountSessionDeps) {
    this.#connection = connection
    this.#deps = deps
  }

  get seq(): number {
    return this.#channel?.seq ?? 0
  }

  join(message: unknown): { readonly ready: object } | Denied {
    const resume = resumeOf(message)
    const denied = this.#deps.enrol()
    if (denied !== undefined) return denied
    const login = this.#connection.pass?.login ?? ''
    const epoch = this.#deps.epoch()
    const channel = this.#deps.channel(login)
    this.#channel = channel
    const missed = resume !== null && resume.epoch === epoch ? channel.after(resume.after) : undefined
    this.#missed = missed ?? []
    return {
      ready: {
        ev: 'ready',
        login,
        epoch,
        seq: channel.seq,
        resumed: missed !== undefined,
        heartbeat_ms: this.#deps.heartbeatMs,
        accounts: this.#deps.accountsOf(login),
        as_of: this.#deps.stamp()
      }
    }
  }

  joined(): void {
    for (const { frame } of this.#missed) this.#connection.event(frame)
    this.#missed = []
  }

  onMessage(): void {
    // This stream has no other messages.
  }
}

function resumeOf(message: unknown): Resume | null {
  if (typeof message !== 'object' || message === null || !('resume' in message) || message.resume === null) return null
  const fields = new Fields(message.resume, ['epoch', 'after'])
  const after = fields.countOr('after', 0, Number.MAX_SAFE_INTEGER)
  if (after === null) throw new Problem('bad_request', 'resume.after is missing', { field: 'after' })
  return { epoch: fields.text('epoch'), after }
}
