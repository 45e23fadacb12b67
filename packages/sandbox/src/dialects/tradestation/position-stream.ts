/** The position stream: every position, then whatever changes of them, whole or only what changed. */

import type { AccountChangedEvent, PositionView } from '../../engine/types.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { texts } from '../frame/sign-in.ts'
import type { StreamCall, StreamRoute, Talk, Voice } from './hall.ts'
import { mustHaveOne } from './order-stream.ts'
import { type Asked, accountsAsked } from './ownership.ts'
import { positionIdOf } from './positions.ts'
import type { Sights } from './sights.ts'

export interface PositionStreamsDeps {
  readonly house: DialectHouse
  readonly sights: Sights
}

type Wire = Readonly<Record<string, string>>

interface Reader {
  readonly accounts: ReadonlySet<string>
  readonly changesOnly: boolean
  readonly voice: Voice
  /** What was told last, by account and symbol. */
  readonly told: Map<string, Wire>
  readAt: number
}

/** Prices move positions all the time; they are told so often at most. */
const PRICES_EVERY_MS = 1_000

export class PositionStreams implements Disposable {
  readonly #deps: PositionStreamsDeps
  readonly #readers = new Set<Reader>()
  readonly #following: Disposable

  constructor(deps: PositionStreamsDeps) {
    this.#deps = deps
    this.#following = deps.house.news.follow({
      order: () => undefined,
      orderAgain: () => undefined,
      account: event => this.#changed(event)
    })
  }

  routes(): readonly StreamRoute[] {
    return [{ path: '/brokerage/stream/accounts/:accounts/positions', open: call => this.#open(call) }]
  }

  [Symbol.dispose](): void {
    this.#following[Symbol.dispose]()
  }

  #open({ request, person }: StreamCall): Talk {
    const { house } = this.#deps
    const asked = accountsAsked(house.people, person.id, texts(request.params).accounts ?? '')
    mustHaveOne(asked)
    const changesOnly = texts(request.query).changes === 'true'
    let reader: Reader | null = null
    return {
      begin: voice => {
        const accounts = new Set(asked.accounts.map(({ id }) => id))
        reader = { accounts, changesOnly, voice, told: new Map(), readAt: house.realNow() }
        this.#tellAll(reader, asked)
        this.#readers.add(reader)
      },
      tick: () => {
        if (reader !== null && house.realNow() - reader.readAt >= PRICES_EVERY_MS) this.#tellPrices(reader)
      },
      end: () => {
        if (reader !== null) this.#readers.delete(reader)
      }
    }
  }

  #tellAll({ accounts, voice, told }: Reader, { errors }: Asked): void {
    for (const account of accounts) {
      for (const position of this.#deps.house.books.engine.positions(account)) {
        const wire = this.#deps.sights.position(position)
        told.set(keyOf(position), wire)
        voice.say(wire)
      }
    }
    for (const error of errors) voice.say(error)
    voice.say({ StreamStatus: 'EndSnapshot' })
  }

  #tellPrices(reader: Reader): void {
    reader.readAt = this.#deps.house.realNow()
    for (const account of reader.accounts) {
      for (const position of this.#deps.house.books.engine.positions(account)) this.#tell(reader, position, reader.voice.say)
    }
  }

  #changed({ accountId, symbols }: AccountChangedEvent): void {
    for (const reader of this.#readers) {
      if (!reader.accounts.has(accountId)) continue
      for (const symbol of symbols) {
        const position = this.#deps.house.books.engine.position(accountId, symbol)
        if (position !== undefined) this.#tell(reader, position, reader.voice.event)
      }
    }
  }

  /** `say`: prices only; they must not use up what is to be lost or repeated of what happened. */
  #tell({ told, changesOnly }: Reader, position: PositionView, say: (frame: object) => void): void {
    const key = keyOf(position)
    const before = told.get(key)
    const isFlat = position.quantity === '0'
    // Closed and opened again between two looks: another position, with an id of its own.
    const isOver = before !== undefined && (isFlat || before.PositionID !== positionIdOf(position))
    if (isOver) {
      told.delete(key)
      say({ PositionID: before.PositionID, Deleted: true })
    }
    if (isFlat) return
    const wire = this.#deps.sights.position(position)
    const changes = isOver || before === undefined ? wire : changesOf(before, wire)
    if (Object.keys(changes).length === 0) return
    told.set(key, wire)
    say(!changesOnly || changes === wire ? wire : { PositionID: wire.PositionID, ...changes })
  }
}

function keyOf({ accountId, symbol }: PositionView): string {
  return `${accountId} ${symbol}`
}

/** The fields that are others now. */
export function changesOf<Value>(
  before: Readonly<Record<string, Value>>,
  now: Readonly<Record<string, Value>>
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(now).filter(([name, value]) => before[name] !== value))
}
