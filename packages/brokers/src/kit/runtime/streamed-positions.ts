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

export interface StreamedPositionsOptions {
  readonly emit: (message: StreamMessage<AccountEvent>) => void
  /** Has the account's positions read: what was streamed of them is no list. */
  readonly read: (account: string) => void
}

export class StreamedPositions implements AsyncDisposable {
  readonly #clock: Clock
  /** By the broker's id of a position. */
  readonly #positions = new Map<string, PositionReport>()
  /** The same by account, so that a list of one costs what that account has. */
  readonly #held = new Map<string, Map<string, PositionReport>>()
  /** The accounts of positions that cannot be read as they are now, by id. */
  readonly #leftOut = new Map<string, string>()
  /** Accounts whose positions are worth something else than was sent. */
  readonly #stale = new Set<string>()
  #nextWorth: Disposable | null = null
  /** A message costs what it changes: lists are made of all that changed since the last, and not for each message. */
  readonly #lists: Refetch

  constructor(clock: Clock, { emit, read }: StreamedPositionsOptions) {
    this.#clock = clock
    this.#lists = new Refetch({
      clock,
      spacingMs: LISTS_MS,
      read: async account => {
        this.#stale.delete(account)
        if (this.#isPartial(account)) read(account)
        else emit({ type: 'event', event: this.#event(account) })
      },
      // Rows of one symbol that cannot be added up.
      failed: read
    })
  }

  /** `isPublished` false: it is part of what was there before, which is read. @throws Malformed beyond the bound */
  put(id: string, position: PositionReport, isPublished: boolean): void {
    const { brokerAccountId: account } = position
    const before = this.#positions.get(id)
    const wasLeftOut = this.#leftOut.delete(id)
    if (before === undefined) this.#demandCapacity()
    if (before !== undefined && before.brokerAccountId !== account) this.close(id, isPublished)
    this.#positions.set(id, position)
    const held = this.#held.get(account) ?? new Map<string, PositionReport>()
    this.#held.set(account, held.set(id, position))
    if (!isPublished) return
    if (!wasLeftOut && before?.quantity === position.quantity) this.#revalued(account)
    else this.#lists.changed(account)
  }

  close(id: string, isPublished: boolean): void {
    const account = this.#positions.get(id)?.brokerAccountId ?? this.#leftOut.get(id)
    if (account === undefined) return
    this.#forget(id, account)
    if (isPublished) this.#lists.changed(account)
  }

  /**
   * It was sent in a form that cannot be read: until it can be, the positions of its account are read. @throws Malformed beyond the bound
   */
  leaveOut(id: string, account: string, isPublished: boolean): void {
    const isNew = this.#leftOut.get(id) !== account
    this.#forget(id, this.#positions.get(id)?.brokerAccountId ?? account)
    this.#demandCapacity()
    this.#leftOut.set(id, account)
    if (isPublished && isNew) this.#lists.changed(account)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#nextWorth?.[Symbol.dispose]()
    await this.#lists[Symbol.asyncDispose]()
  }

  #forget(id: string, account: string): void {
    this.#leftOut.delete(id)
    this.#positions.delete(id)
    this.#held.get(account)?.delete(id)
  }

  #demandCapacity(): void {
    const held = this.#positions.size + this.#leftOut.size
    if (held >= POSITIONS_MAX) throw new Malformed('positions', `at most ${POSITIONS_MAX}`, held)
  }

  #isPartial(account: string): boolean {
    return [...this.#leftOut.values()].includes(account)
  }

  /** What is read costs quota: a change of value alone is not read. */
  #revalued(account: string): void {
    if (this.#isPartial(account)) return
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
