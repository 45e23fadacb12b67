/** The protocol of the broker's position stream: every position first, then each as it changes, and those that were closed. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { AccountEvent, PositionReport } from '@trunkline/core/ports/broker'
import { accountState } from '../kit/event-streams.ts'
import { field, text, type Wire } from '../kit/parse.ts'
import { Refetch } from '../kit/refetch.ts'
import type { Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../kit/stream-protocol.ts'
import { summedPositions } from '../kit/summed-positions.ts'
import { parsePosition } from './codecs.ts'
import { AccountLineReader, type AccountStreamDeps, opened } from './stream.ts'

/** A position's value changes all the time, and is published no more often than this; its quantity, at once. */
const WORTH_MS = 5_000
/** From one list of an account's positions to the next while they change; the first comes at once. */
const LISTS_MS = 250
/** Positions held for a login; beyond it the stream is given up, and positions are read instead. */
const POSITIONS_MAX = 10_000

export type ProtocolDeps = Omit<AccountStreamDeps, 'apiUrl' | 'tokens'>

const NOTHING: readonly StreamMessage<AccountEvent>[] = []

export class PositionsStream implements ProtocolFactory<AccountEvent> {
  readonly stateOf = accountState
  readonly #options: AccountStreamDeps

  constructor(options: AccountStreamDeps) {
    this.#options = options
  }

  async begin(signal: AbortSignal): Promise<StreamProtocol<AccountEvent>> {
    const accounts = await this.#options.accountState.streamed(signal)
    const address = await opened(this.#options, `/brokerage/stream/accounts/${accounts}/positions`, signal)
    const protocol = new PositionsProtocol(this.#options)
    return {
      ...address,
      onFrame: frame => protocol.onFrame(frame),
      maintain: connection => protocol.maintain(connection),
      ended: () => protocol.ended()
    }
  }
}

/** What one connection of the stream comes to. */
export class PositionsProtocol {
  readonly #options: ProtocolDeps
  readonly #reader: AccountLineReader
  /** By the broker's id of a position. */
  readonly #positions = new Map<string, PositionReport>()
  /** The same by account, so that a list of one costs what that account has. */
  readonly #held = new Map<string, Map<string, PositionReport>>()
  /** Accounts whose positions are worth something else than was sent. */
  readonly #stale = new Set<string>()
  /** A message costs what it changes: lists are made of all that changed since the last, and not for each message. */
  readonly #lists: Refetch
  #connection: Connection<AccountEvent> | null = null

  constructor(options: ProtocolDeps) {
    this.#options = options
    this.#reader = new AccountLineReader(options)
    this.#lists = new Refetch({
      clock: options.clock,
      spacingMs: LISTS_MS,
      read: async account => {
        this.#stale.delete(account)
        this.#connection?.emit({ type: 'event', event: this.#event(account) })
      },
      failed: (_account, error) => this.#connection?.emit({ type: 'over', cause: 'malformed', reason: messageOf(error) })
    })
  }

  onFrame(frame: string): readonly StreamMessage<AccountEvent>[] {
    return this.#reader.onFrame(frame, wire => {
      if (field(wire, 'Deleted') === true) this.#closed(text(wire, 'PositionID', 64))
      else this.#position(wire)
      return NOTHING
    })
  }

  async maintain(connection: Connection<AccountEvent>): Promise<number> {
    this.#connection = connection
    for (const account of this.#stale) this.#lists.changed(account)
    this.#stale.clear()
    return WORTH_MS
  }

  async ended(): Promise<void> {
    await this.#lists[Symbol.asyncDispose]()
  }

  #position(wire: Wire): void {
    // The list of positions leaves one of an unknown class out as well.
    const position = this.#options.unknownValues.orNull(wire, parsePosition)
    if (position === null) return
    const { brokerAccountId: account, brokerPositionId: id } = position
    if (id === null) throw new Malformed('PositionID', 'a text', id)
    if (!this.#options.accountState.isOurs(account)) {
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
    // What was there before is read by the reader, once we are live.
    if (!this.#reader.isLive) return
    // Before the first tending there is nowhere to send it yet.
    if (before === now || this.#connection === null) this.#stale.add(account)
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
