/** How the broker's position stream is spoken: every position first, then each as it changes, and those that were closed. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { AccountEvent, PositionReport } from '@trunkline/core/ports/broker'
import type { Conversation, Heard, Line, SocketProtocol } from '../kit/conversation.ts'
import { accountState } from '../kit/event-streams.ts'
import { field, text, type Wire } from '../kit/parse.ts'
import { parsePosition } from './parse.ts'
import { AccountLines, type AccountStreamDeps, opened } from './stream.ts'

/** What a position is worth changes all the time, and is told no more often than this; what it holds, at once. */
const WORTH_MS = 5_000
/** Positions held for a login; beyond it the stream is given up, and positions are read instead. */
const POSITIONS_MAX = 10_000
const NOTHING: readonly Heard<AccountEvent>[] = []

export class PositionsStream implements SocketProtocol<AccountEvent> {
  readonly stateOf = accountState
  readonly #options: AccountStreamDeps

  constructor(options: AccountStreamDeps) {
    this.#options = options
  }

  async begin(signal: AbortSignal): Promise<Conversation<AccountEvent>> {
    const accounts = await this.#options.book.streamed(signal)
    const address = await opened(this.#options, `/brokerage/stream/accounts/${accounts}/positions`, signal)
    const talk = new PositionsTalk(this.#options)
    return { ...address, hear: frame => talk.hear(frame), tend: line => talk.tend(line) }
  }
}

class PositionsTalk {
  readonly #options: AccountStreamDeps
  readonly #lines: AccountLines
  /** By the broker's id of a position. */
  readonly #positions = new Map<string, PositionReport>()
  /** Accounts whose positions are worth something else than was told. */
  readonly #stale = new Set<string>()

  constructor(options: AccountStreamDeps) {
    this.#options = options
    this.#lines = new AccountLines(options)
  }

  hear(frame: string): readonly Heard<AccountEvent>[] {
    return this.#lines.hear(frame, wire =>
      field(wire, 'Deleted') === true ? this.#closed(text(wire, 'PositionID', 64)) : this.#position(wire)
    )
  }

  async tend(line: Line<AccountEvent>): Promise<number> {
    for (const account of this.#stale) line.tell({ type: 'event', event: this.#event(account) })
    this.#stale.clear()
    return WORTH_MS
  }

  #position(wire: Wire): readonly Heard<AccountEvent>[] {
    // The list of positions leaves one of an unknown class out as well.
    const position = this.#options.words.orNull(wire, parsePosition)
    if (position === null) return NOTHING
    const { brokerAccountId: account, brokerPositionId: id } = position
    if (id === null) throw new Malformed('PositionID', 'a text', id)
    if (!this.#options.book.isOurs(account)) {
      this.#options.log.error('the broker streamed a position of an account that is not of this login; dropped', { account })
      return NOTHING
    }
    const before = this.#positions.get(id)
    if (before === undefined && this.#positions.size >= POSITIONS_MAX)
      throw new Malformed('positions', `at most ${POSITIONS_MAX}`, this.#positions.size)
    this.#positions.set(id, position)
    return this.#changed(account, before?.quantity ?? null, position.quantity)
  }

  #closed(id: string): readonly Heard<AccountEvent>[] {
    const before = this.#positions.get(id)
    this.#positions.delete(id)
    return before === undefined ? NOTHING : this.#changed(before.brokerAccountId, before.quantity, null)
  }

  #changed(account: string, before: Decimal | null, now: Decimal | null): readonly Heard<AccountEvent>[] {
    // What was there before is read by whoever listens, once we are live.
    if (!this.#lines.isLive) return NOTHING
    if (before === now) {
      this.#stale.add(account)
      return NOTHING
    }
    this.#stale.delete(account)
    return [{ type: 'event', event: this.#event(account) }]
  }

  #event(account: string): AccountEvent {
    const items = [...this.#positions.values()].filter(({ brokerAccountId }) => brokerAccountId === account)
    return { type: 'positions', brokerAccountId: account, positions: { items, asOf: this.#options.clock.now() } }
  }
}
