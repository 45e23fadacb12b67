/** What all streams of the broker have in common: the request, and the messages that are no records. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { AccountEvent } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { HttpReply } from '../kit/http.ts'
import { readJson } from '../kit/json.ts'
import { field, object, text, type Wire } from '../kit/parse.ts'
import type { KnownAccounts } from '../kit/runtime/known-accounts.ts'
import type { Closing, StreamMessage, StreamProtocol } from '../kit/stream-protocol.ts'
import type { TokenSource } from '../kit/tokens.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { usableToken } from '../kit/usable-token.ts'
import { errorOf, isTokenRefused, resetMs } from './quirks.ts'

/** The broker's heartbeat is every 5 s; a little more, so that two missed ones are not the network's jitter. */
export const HEARTBEAT_MS = 6_000
/** A full quota is waited for no longer than this before it is tried again. */
const PAUSE_MS_MAX = 60_000
const PAUSE_MS_DEFAULT = 5_000

const NOTHING: readonly StreamMessage<never>[] = []
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
  readonly unknownValues: UnknownValueCounter
  readonly accountState: KnownAccounts
}

/** How one stream is requested, and what other answers mean. */
export type Opened = Pick<StreamProtocol<never>, 'url' | 'headers' | 'lines' | 'hello' | 'refused'>

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
      recover: async signal => {
        await tokens.replacement(token, signal)
      }
    }
  if (answer.status !== 429) return null
  const ms = Math.min(resetMs(answer) ?? PAUSE_MS_DEFAULT, PAUSE_MS_MAX)
  return { cause: 'refused', recover: signal => clock.sleep(ms, signal) }
}

/** What a line is, before it is known to be a record of the stream. */
export type ParsedLine =
  | { readonly type: 'record' }
  | { readonly type: 'heartbeat' }
  | { readonly type: 'end_snapshot' }
  | { readonly type: 'over'; readonly message: StreamMessage<never>; readonly error: string | null }

const RECORD: ParsedLine = { type: 'record' }
const HEARTBEAT: ParsedLine = { type: 'heartbeat' }
const END_SNAPSHOT: ParsedLine = { type: 'end_snapshot' }

/** @throws Malformed for an unknown stream state */
export function parseLine(wire: Wire): ParsedLine {
  if (field(wire, 'Heartbeat') !== undefined) return HEARTBEAT
  if (field(wire, 'StreamStatus') !== undefined) {
    const status = text(wire, 'StreamStatus', 32)
    if (status === 'EndSnapshot') return END_SNAPSHOT
    if (status === 'GoAway') return over('lost', 'the broker is about to close the stream', null)
    throw new Malformed('StreamStatus', 'EndSnapshot or GoAway', status)
  }
  const error = field(wire, 'Error')
  if (typeof error !== 'string' || error === '') return RECORD
  const { message } = errorOf(wire)
  if (error === 'GoAway') return over('lost', 'the broker is about to close the stream', error)
  return over('refused', `the broker ended the stream: ${message}`, error)
}

function over(cause: 'lost' | 'refused', reason: string, error: string | null): ParsedLine {
  return { type: 'over', message: { type: 'over', cause, reason }, error }
}

type LineReaderDeps = Pick<AccountStreamDeps, 'heartbeatMs' | 'accountState'>

/** The lines of one connection to an account stream, which is live once it has sent its initial snapshot. */
export class AccountLineReader {
  readonly #options: LineReaderDeps
  #isLive = false

  constructor(options: LineReaderDeps) {
    this.#options = options
  }

  get isLive(): boolean {
    return this.#isLive
  }

  /** @throws Malformed; what `record` throws */
  onFrame(frame: string, record: (wire: Wire) => readonly StreamMessage<AccountEvent>[]): readonly StreamMessage<AccountEvent>[] {
    const wire = object(readJson(frame, { numbers: 'text' }), 'line')
    const line = parseLine(wire)
    switch (line.type) {
      case 'heartbeat':
        return NOTHING
      case 'end_snapshot':
        if (this.#isLive) return NOTHING
        this.#isLive = true
        return [{ type: 'live', heartbeatMs: this.#options.heartbeatMs }]
      case 'over':
        if (line.error === 'Forbidden') this.#options.accountState.forbid(field(wire, 'AccountID'))
        return [line.message]
      case 'record':
        return record(wire)
    }
  }
}
