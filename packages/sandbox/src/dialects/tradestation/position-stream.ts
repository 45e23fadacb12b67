/** The position stream: every position, then whatever changes of them, whole or only what changed. */

import type { AccountChangedEvent, PositionView } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { texts } from '../frame/sign-in.ts'
import type { AccountViews } from './account-views.ts'
import { mustHaveOne } from './order-stream.ts'
import { type RequestedAccounts, requestedAccounts } from './ownership.ts'
import { positionIdOf } from './positions.ts'
import type { StreamCall, StreamEmitter, StreamProtocol, StreamRoute } from './stream-server.ts'

export interface PositionStreamsDeps {
  readonly brokerage: BrokerageView
  readonly views: AccountViews
}

type Wire = Readonly<Record<string, string>>

interface Reader {
  readonly accounts: ReadonlySet<string>
  readonly changesOnly: boolean
  readonly emitter: StreamEmitter
  /** What was sent last, by account and symbol. */
  readonly sent: Map<string, Wire>
  readAt: number
}

/** Prices move positions all the time; they are sent so often at most. */
const PRICES_EVERY_MS = 1_000

export class PositionStreams implements Disposable {
  readonly #deps: PositionStreamsDeps
  readonly #readers = new Set<Reader>()
  readonly #following: Disposable

  constructor(deps: PositionStreamsDeps) {
    this.#deps = deps
    this.#following = deps.brokerage.publisher.follow({
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

  #open({ request, customer }: StreamCall): StreamProtocol {
    const { brokerage } = this.#deps
    const requested = requestedAccounts(brokerage.customers, customer.id, texts(request.params).accounts ?? '')
    mustHaveOne(requested)
    const changesOnly = texts(request.query).changes === 'true'
    let reader: Reader | null = null
    return {
      begin: emitter => {
        const accounts = new Set(requested.accounts.map(({ id }) => id))
        reader = { accounts, changesOnly, emitter, sent: new Map(), readAt: brokerage.realNow() }
        this.#emitAll(reader, requested)
        this.#readers.add(reader)
      },
      tick: () => {
        if (reader !== null && brokerage.realNow() - reader.readAt >= PRICES_EVERY_MS) this.#emitPrices(reader)
      },
      end: () => {
        if (reader !== null) this.#readers.delete(reader)
      }
    }
  }

  #emitAll({ accounts, emitter, sent }: Reader, { errors }: RequestedAccounts): void {
    for (const account of accounts) {
      for (const position of this.#deps.brokerage.state.engine.positions(account)) {
        const wire = this.#deps.views.position(position)
        sent.set(keyOf(position), wire)
        emitter.send(wire)
      }
    }
    for (const error of errors) emitter.send(error)
    emitter.send({ StreamStatus: 'EndSnapshot' })
  }

  #emitPrices(reader: Reader): void {
    reader.readAt = this.#deps.brokerage.realNow()
    for (const account of reader.accounts) {
      for (const position of this.#deps.brokerage.state.engine.positions(account)) this.#emit(reader, position, reader.emitter.send)
    }
  }

  #changed({ accountId, symbols }: AccountChangedEvent): void {
    for (const reader of this.#readers) {
      if (!reader.accounts.has(accountId)) continue
      for (const symbol of symbols) {
        const position = this.#deps.brokerage.state.engine.position(accountId, symbol)
        if (position !== undefined) this.#emit(reader, position, reader.emitter.event)
      }
    }
  }

  /** `say`: prices only; they must not use up what is to be lost or repeated of what happened. */
  #emit({ sent, changesOnly }: Reader, position: PositionView, send: (frame: object) => void): void {
    const key = keyOf(position)
    const before = sent.get(key)
    const isFlat = position.quantity === '0'
    // Closed and opened again between two looks: another position, with an id of its own.
    const isOver = before !== undefined && (isFlat || before.PositionID !== positionIdOf(position))
    if (isOver) {
      sent.delete(key)
      send({ PositionID: before.PositionID, Deleted: true })
    }
    if (isFlat) return
    const wire = this.#deps.views.position(position)
    const changes = isOver || before === undefined ? wire : changesOf(before, wire)
    if (Object.keys(changes).length === 0) return
    sent.set(key, wire)
    send(!changesOnly || changes === wire ? wire : { PositionID: wire.PositionID, ...changes })
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
