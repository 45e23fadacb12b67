/** What all streams of the broker have in common: how they are asked for, and the words that are no records. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { AccountEvent } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Closing, Conversation, Heard } from '../kit/conversation.ts'
import type { HttpReply } from '../kit/http.ts'
import { readJson } from '../kit/json.ts'
import { field, object, text, type Wire } from '../kit/parse.ts'
import type { TokenSource } from '../kit/tokens.ts'
import { usableToken } from '../kit/usable-token.ts'
import type { Words } from '../kit/words.ts'
import type { AccountBook } from './account-book.ts'
import { errorOf, isTokenRefused } from './answers.ts'
import { resetMs } from './limits.ts'

/** The broker is heard every 5 s when nothing else is said; a little more, so that two missed ones are not the network's jitter. */
export const HEARTBEAT_MS = 6_000
/** A full quota is waited for no longer than this before it is tried again. */
const PAUSE_MS_MAX = 60_000
const PAUSE_MS_DEFAULT = 5_000

const NOTHING: readonly Heard<never>[] = []
const LINES = { mediaType: /^application\/(?:vnd\.tradestation\.streams[^;]*|json)\s*(?:;|$)/i } as const

export interface StreamDeps {
  /** With the version, without a trailing slash. */
  readonly apiUrl: string
  readonly tokens: TokenSource
  readonly clock: Clock
  readonly heartbeatMs: number
}

/** Of the streams of accounts. */
export interface AccountStreamDeps extends StreamDeps {
  readonly log: Log
  readonly words: Words
  readonly book: AccountBook
}

/** How one stream is asked for, and what answers that are none mean. */
export type Opened = Pick<Conversation<never>, 'url' | 'headers' | 'lines' | 'hello' | 'refused'>

/** @throws BrokerFault credentials_rejected; StreamFault for whatever passes. */
export async function opened({ apiUrl, tokens, clock }: StreamDeps, path: string, signal: AbortSignal): Promise<Opened> {
  const token = await usableToken(tokens, signal)
  return {
    url: `${apiUrl}${path}`,
    headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.tradestation.streams.v3+json, application/json' },
    lines: LINES,
    hello: [],
    refused: answer => closingOf(answer, token, tokens, clock)
  }
}

function closingOf(answer: HttpReply, token: string, tokens: TokenSource, clock: Clock): Closing | null {
  if (isTokenRefused(answer))
    return {
      cause: 'token',
      mend: async signal => {
        await tokens.replacement(token, signal)
      }
    }
  if (answer.status !== 429) return null
  const ms = Math.min(resetMs(answer) ?? PAUSE_MS_DEFAULT, PAUSE_MS_MAX)
  return { cause: 'refused', mend: signal => clock.sleep(ms, signal) }
}

/** What a line is, before it is known to be a record of the stream. */
export type Told =
  | { readonly type: 'record' }
  | { readonly type: 'heartbeat' }
  | { readonly type: 'end_snapshot' }
  | { readonly type: 'over'; readonly heard: Heard<never>; readonly error: string | null }

const RECORD: Told = { type: 'record' }
const HEARTBEAT: Told = { type: 'heartbeat' }
const END_SNAPSHOT: Told = { type: 'end_snapshot' }

/** @throws Malformed for a state of the stream nobody knows */
export function told(wire: Wire): Told {
  if (field(wire, 'Heartbeat') !== undefined) return HEARTBEAT
  if (field(wire, 'StreamStatus') !== undefined) {
    const status = text(wire, 'StreamStatus', 32)
    if (status === 'EndSnapshot') return END_SNAPSHOT
    if (status === 'GoAway') return over('lost', 'the broker is about to close the stream', null)
    throw new Malformed('StreamStatus', 'EndSnapshot or GoAway', status)
  }
  const word = field(wire, 'Error')
  if (typeof word !== 'string' || word === '') return RECORD
  const { message } = errorOf(wire)
  if (word === 'GoAway') return over('lost', 'the broker is about to close the stream', word)
  return over('refused', `the broker ended the stream: ${message}`, word)
}

function over(cause: 'lost' | 'refused', reason: string, error: string | null): Told {
  return { type: 'over', heard: { type: 'over', cause, reason }, error }
}

type LineDeps = Pick<AccountStreamDeps, 'heartbeatMs' | 'book'>

/** The lines of one connection to an account stream, which is live once it has told what there was before. */
export class AccountLines {
  readonly #options: LineDeps
  #isLive = false

  constructor(options: LineDeps) {
    this.#options = options
  }

  get isLive(): boolean {
    return this.#isLive
  }

  /** @throws Malformed; what `record` throws */
  hear(frame: string, record: (wire: Wire) => readonly Heard<AccountEvent>[]): readonly Heard<AccountEvent>[] {
    const wire = object(readJson(frame, { numbers: 'text' }), 'line')
    const what = told(wire)
    switch (what.type) {
      case 'heartbeat':
        return NOTHING
      case 'end_snapshot':
        if (this.#isLive) return NOTHING
        this.#isLive = true
        return [{ type: 'live', heartbeatMs: this.#options.heartbeatMs }]
      case 'over':
        if (what.error === 'Forbidden') this.#options.book.forbid(field(wire, 'AccountID'))
        return [what.heard]
      case 'record':
        return record(wire)
    }
  }
}
