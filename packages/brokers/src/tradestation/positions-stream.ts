/** How the broker's position stream is spoken: every position first, then each as it changes, and those that were closed. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { AccountEvent, PositionReport } from '@trunkline/core/ports/broker'
import type { Conversation, Heard, Line, SocketProtocol } from '../kit/conversation.ts'
import { accountState } from '../kit/event-streams.ts'
import { field, text, type Wire } from '../kit/parse.ts'
import { Refetch } from '../kit/refetch.ts'
import { summedPositions } from '../kit/summed-positions.ts'
import { parsePosition } from './parse.ts'
import { AccountLines, type AccountStreamDeps, opened } from './stream.ts'

/** What a position is worth changes all the time, and is told no more often than this; what it holds, at once. */
const WORTH_MS = 5_000
/** From one list of an account's positions to the next while they change; the first comes at once. */
const LISTS_MS = 250
/** Positions held for a login; beyond it the stream is given up, and positions are read instead. */
const POSITIONS_MAX = 10_000

export type TalkDeps = Omit<AccountStreamDeps, 'apiUrl' | 'tokens'>

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
    return { ...address, hear: frame => talk.hear(frame), tend: line => talk.tend(line), ended: () => talk.ended() }
  }
}

/** What one connection of the stream comes to. */
export class PositionsTalk {
  readonly #options: TalkDeps
  readonly #lines: AccountLines
  /** By the broker's id of a position. */
  readonly #positions = new Map<string, PositionReport>()
  /** The same by account, so that a list of one costs what that account has. */
  readonly #held = new Map<string, Map<string, PositionReport>>()
  /** Accounts whose positions are worth something else than was sent. */
  readonly #stale = new Set<string>()
  /** A message costs what it changes: lists are made of all that changed since the last, and not for each message. */
  readonly #lists: Refetch
  #line: Line<AccountEvent> | null = null

  constructor(options: TalkDeps) {
    this.#options = options
    this.#lines = new AccountLines(options)
    this.#lists = new Refetch({
      clock: options.clock,
      spacingMs: LISTS_MS,
      read: async account => {
        this.#stale.delete(account)
        this.#line?.tell({ type: 'event', event: this.#event(account) })
      },
      failed: (_account, error) => this.#line?.tell({ type: 'over', cause: 'malformed', reason: messageOf(error) })
    })
  }

  hear(frame: string): readonly Heard<AccountEvent>[] {
    return this.#lines.hear(frame, wire => {
      if (field(wire, 'Deleted') === true) this.#closed(text(wire, 'PositionID', 64))
      else this.#position(wire)
      return NOTHING
    })
  }

  async tend(line: Line<AccountEvent>): Promise<number> {
    this.#line = line
    for (const account of this.#stale) this.#lists.changed(account)
    this.#stale.clear()
    return WORTH_MS
  }

  async ended(): Promise<void> {
    await this.#lists[Symbol.asyncDispose]()
  }

  #position(wire: Wire): void {
    // The list of positions leaves one of an unknown class out as well.
    const position = this.#options.words.orNull(wire, parsePosition)
    if (position === null) return
    const { brokerAccountId: account, brokerPositionId: id } = position
    if (id === null) throw new Malformed('PositionID', 'a text', id)
    if (!this.#options.book.isOurs(account)) {
      this.#options.log.error('the broker streamed a position of an account that is not of this login; dropped', { account })
      return
    }
    const before = this.#positions.get(id)
    if (before === undefined && this.#positions.size >= POSITIONS_MAX)
      throw new Malformed('positions', `at most ${POSITIONS_MAX}`, this.#positions.size)
    if (before !== undefined && before.brokerAccountId !== account) this.#closed(id)
    this.#positions.set(id, position)
    const held = this.#held.get(account) ?? new Map<string, PositionReport>()
    this.#held.set(account, held.set(id, position))
    this.#changed(account, before?.quantity ?? null, position.quantity)
  }

  #closed(id: string): void {
    const before = this.#positions.get(id)
    if (before === undefined) return
    this.#positions.delete(id)
    this.#held.get(before.brokerAccountId)?.delete(id)
    this.#changed(before.brokerAccountId, before.quantity, null)
  }

  #changed(account: string, before: Decimal | null, now: Decimal | null): void {
    // What was there before is read by whoever listens, once we are live.
    if (!this.#lines.isLive) return
    // Before the first tending there is nowhere to send it yet.
    if (before === now || this.#line === null) this.#stale.add(account)
    else this.#lists.changed(account)
  }

  /** @throws Malformed for rows of one symbol that cannot be added up */
  #event(account: string): AccountEvent {
    const items = summedPositions([...(this.#held.get(account)?.values() ?? [])])
    return { type: 'positions', brokerAccountId: account, positions: { items, asOf: this.#options.clock.now() } }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'positions that changed could not be listed'
}
