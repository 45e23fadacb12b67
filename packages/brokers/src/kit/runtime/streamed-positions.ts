/** Positions that a stream sends one by one, all of them first: the lists that they make. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { AccountEvent, PositionReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import { Refetch } from '../refetch.ts'
import type { StreamMessage } from '../stream-protocol.ts'
import { summedPositions } from '../summed-positions.ts'

/** A position's value changes all the time, and is published no more often than this; its quantity, at once. */
const WORTH_MS = 5_000
/** From one list of an account's positions to the next while they change; the first comes at once. */
const LISTS_MS = 250
/** Positions held for a login; beyond it the stream is given up, and positions are read instead. */
const POSITIONS_MAX = 10_000

export class StreamedPositions implements AsyncDisposable {
  readonly #clock: Clock
  /** By the broker's id of a position. */
  readonly #positions = new Map<string, PositionReport>()
  /** The same by account, so that a list of one costs what that account has. */
  readonly #held = new Map<string, Map<string, PositionReport>>()
  /** Accounts whose positions are worth something else than was sent. */
  readonly #stale = new Set<string>()
  #nextWorth: Disposable | null = null
  /** A message costs what it changes: lists are made of all that changed since the last, and not for each message. */
  readonly #lists: Refetch

  constructor(clock: Clock, emit: (message: StreamMessage<AccountEvent>) => void) {
    this.#clock = clock
    this.#lists = new Refetch({
      clock,
      spacingMs: LISTS_MS,
      read: async account => {
        this.#stale.delete(account)
        emit({ type: 'event', event: this.#event(account) })
      },
      failed: (_account, error) => emit({ type: 'over', cause: 'malformed', reason: messageOf(error) })
    })
  }

  /** `isPublished` false: it is part of what was there before, which is read. @throws Malformed beyond the bound */
  put(id: string, position: PositionReport, isPublished: boolean): void {
    const { brokerAccountId: account } = position
    const before = this.#positions.get(id)
    if (before === undefined && this.#positions.size >= POSITIONS_MAX)
      throw new Malformed('positions', `at most ${POSITIONS_MAX}`, this.#positions.size)
    if (before !== undefined && before.brokerAccountId !== account) this.close(id, isPublished)
    this.#positions.set(id, position)
    const held = this.#held.get(account) ?? new Map<string, PositionReport>()
    this.#held.set(account, held.set(id, position))
    if (!isPublished) return
    if (before?.quantity === position.quantity) this.#revalued(account)
    else this.#lists.changed(account)
  }

  close(id: string, isPublished: boolean): void {
    const before = this.#positions.get(id)
    if (before === undefined) return
    this.#positions.delete(id)
    this.#held.get(before.brokerAccountId)?.delete(id)
    if (isPublished) this.#lists.changed(before.brokerAccountId)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#nextWorth?.[Symbol.dispose]()
    await this.#lists[Symbol.asyncDispose]()
  }

  #revalued(account: string): void {
    this.#stale.add(account)
    this.#nextWorth ??= this.#clock.alarm(WORTH_MS, () => {
      this.#nextWorth = null
      for (const each of this.#stale) this.#lists.changed(each)
      this.#stale.clear()
    })
  }

  /** @throws Malformed for rows of one symbol that cannot be added up */
  #event(account: string): AccountEvent {
    const items = summedPositions([...(this.#held.get(account)?.values() ?? [])])
    return { type: 'positions', brokerAccountId: account, positions: { items, asOf: this.#clock.now() } }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'positions that changed could not be listed'
}
