/** The reads of a login: each a request, and a reading of the answer in the core's terms. Lists are whole or a fault. */

import type { Day, Timestamp } from '@trunkline/core/domain/timestamp'
import {
  type BalanceReport,
  type BrokerAccount,
  BrokerFault,
  type OrderReport,
  type PositionReport,
  type Snapshot,
  type TransactionReport
} from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { isSuccess } from '../kit/calls.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { text, type Wire } from '../kit/parse.ts'
import type { CallPriority } from '../kit/rate-limiter.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { parseBalances, parseProfile } from './accounts.ts'
import type { TradierCalls } from './calls.ts'
import { errorsOf, isUnknownOrder, joined } from './errors.ts'
import { parseEvents, transactionsOf } from './history.ts'
import type { KnownOrders } from './known-orders.ts'
import { parseOrder, parseOrderAnswer, parseOrders } from './orders.ts'
import { type Holding, type Mark, parseHoldings, parseMarks, positionOf } from './positions.ts'
import * as requests from './requests.ts'
import { readAnswer, textOf } from './wire.ts'

/** Beyond it a list is a fault, never cut short. */
const PAGES_MAX = 100
/** Tradier's own length of a page: one that is shorter is the last, whatever length was requested. */
const PAGE_LEAST = 25
/** Symbols in one request for quotes. */
const SYMBOLS_MAX = 400
/** An order reported as missing is requested again after so long: Tradier reports this wrongly now and then. */
const ABSENT_PAUSE_MS = 500

export interface ReadParts {
  readonly calls: TradierCalls
  readonly clock: Clock
  readonly log: Log
  readonly unknownValues: UnknownValueCounter
  readonly known: KnownOrders
}

export interface Found {
  readonly found: OrderReport | null
  readonly asOf: Timestamp
}

export class TradierReads {
  readonly #parts: ReadParts

  constructor(parts: ReadParts) {
    this.#parts = parts
  }

  accounts(signal: AbortSignal): Promise<readonly BrokerAccount[]> {
    return this.#read(requests.profileRequest(), parseProfile, signal)
  }

  async balances(account: string, signal: AbortSignal): Promise<Snapshot<BalanceReport>> {
    const asOf = this.#parts.clock.now()
    const balance = await this.#read(requests.balancesRequest(account), answer => parseBalances(answer, account, asOf), signal)
    return { items: [balance], asOf }
  }

  /** `kind`: an order waits for it. */
  holdings(account: string, signal: AbortSignal, kind: CallPriority = 'read'): Promise<readonly Holding[]> {
    return this.#read(requests.positionsRequest(account), parseHoldings, signal, kind)
  }

  async positions(account: string, signal: AbortSignal): Promise<Snapshot<PositionReport>> {
    const asOf = this.#parts.clock.now()
    const holdings = await this.holdings(account, signal)
    const marks = await this.#marks([...new Set(holdings.map(({ symbol }) => symbol))], signal)
    return { items: holdings.map(holding => positionOf(holding, account, marks.get(holding.symbol))), asOf }
  }

  async orders(account: string, signal: AbortSignal): Promise<Snapshot<OrderReport>> {
    const { records, asOf } = await this.#listed(account, signal)
    const read = (record: Wire) => this.#reported(parseOrder(record, account))
    const { known, leftOut } = this.#asRead(() => this.#parts.unknownValues.readPartially(records, read, 'id'))
    return { items: known, asOf, ...(leftOut.length === 0 ? {} : { leftOut }) }
  }

  async transactions(account: string, from: Day, to: Day, signal: AbortSignal): Promise<Snapshot<TransactionReport>> {
    const asOf = this.#parts.clock.now()
    const events = await this.#pages(page => requests.historyRequest(account, from, to, page), parseEvents, signal)
    const items = this.#asRead(() => transactionsOf(events, this.#parts.unknownValues)).filter(({ day }) => day >= from && day <= to)
    return { items, asOf }
  }

  /** The order, or those that a bracket of this id holds. @throws BrokerFault `refused` when there is none */
  async ordersOf(account: string, id: string, signal: AbortSignal, kind: CallPriority = 'read'): Promise<readonly OrderReport[]> {
    const found = await this.#readOrder(account, id, signal, kind)
    if (found !== null) return found
    throw new BrokerFault('refused', `Tradier has no order ${id}`)
  }

  /** @throws BrokerFault `refused` when there is none */
  async order(account: string, id: string, signal: AbortSignal, kind: CallPriority = 'read'): Promise<OrderReport> {
    return this.#own(await this.ordersOf(account, id, signal, kind), id)
  }

  /** Absent only when Tradier says so twice and does not list it either. */
  async byId(account: string, id: string, signal: AbortSignal): Promise<Found> {
    const { clock } = this.#parts
    for (const pause of [0, ABSENT_PAUSE_MS]) {
      if (pause > 0) await clock.sleep(pause, signal).catch(() => undefined)
      const asOf = clock.now()
      const found = await this.#readOrder(account, id, signal)
      if (found !== null) return { found: this.#own(found, id), asOf }
    }
    const { records, asOf } = await this.#listed(account, signal)
    const [found = null] = this.#strictly(
      records.filter(record => text(record, 'id', 64) === id),
      account
    )
    return { found, asOf }
  }

  /** Tradier has no look-up by tag, and does not prevent a tag from being used twice: the list shows which order has it, and the order itself its state. */
  async byTag(account: string, tag: string, signal: AbortSignal): Promise<Found> {
    const { records, asOf } = await this.#listed(account, signal)
    const own = this.#strictly(
      records.filter(record => textOf(record, 'tag') === tag),
      account
    )
    const [listed] = own.toSorted((a, b) => (a.entryTime < b.entryTime ? -1 : 1))
    if (listed === undefined) return { found: null, asOf }
    const now = await this.#readOrder(account, listed.brokerOrderId, signal)
    return { found: now === null ? listed : this.#own(now, listed.brokerOrderId), asOf }
  }

  #own(reports: readonly OrderReport[], id: string): OrderReport {
    const own = reports.find(report => report.brokerOrderId === id)
    if (own !== undefined) return own
    throw new BrokerFault('malformed', 'Tradier answered with another order')
  }

  /** Null: Tradier says that there is none. */
  async #readOrder(account: string, id: string, signal: AbortSignal, kind: CallPriority = 'read'): Promise<readonly OrderReport[] | null> {
    const parse = (reply: HttpReply) => {
      if (!isSuccess(reply.status)) {
        if (isUnknownOrder(reply) || reply.status === 404) return null
        throw new BrokerFault('refused', 'the order could not be requested from Tradier')
      }
      return parseOrderAnswer(demanded(reply)).map(record => this.#reported(parseOrder(record, account)))
    }
    try {
      return await this.#parts.calls.read('standard', requests.orderRequest(account, id), parse, signal, { also: [400, 404], kind })
    } catch (error) {
      if (error instanceof BrokerFault) this.#parts.unknownValues.countIfUnknown(error.cause)
      throw error
    }
  }

  async #listed(account: string, signal: AbortSignal): Promise<{ readonly records: readonly Wire[]; readonly asOf: Timestamp }> {
    const asOf = this.#parts.clock.now()
    const records = await this.#pages(
      page => requests.ordersRequest(account, page),
      parseOrders,
      signal,
      record => text(record, 'id', 64)
    )
    return { records, asOf }
  }

  /** An order that is looked for is there, whether it can be read or not: one that cannot is never left out. @throws BrokerFault */
  #strictly(records: readonly Wire[], account: string): readonly OrderReport[] {
    return this.#asRead(() => {
      try {
        return records.map(record => this.#reported(parseOrder(record, account)))
      } catch (error) {
        this.#parts.unknownValues.countIfUnknown(error)
        throw error
      }
    })
  }

  #reported(report: OrderReport): OrderReport {
    this.#parts.known.put(report)
    return report
  }

  /** Prices only describe what is held: without them it is held all the same. */
  async #marks(symbols: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Mark>> {
    const marks = new Map<string, Mark>()
    try {
      for (let from = 0; from < symbols.length; from += SYMBOLS_MAX) {
        const request = requests.quotesRequest(symbols.slice(from, from + SYMBOLS_MAX))
        for (const [symbol, mark] of await this.#parts.calls.read('market', request, reply => parseMarks(demanded(reply)), signal))
          marks.set(symbol, mark)
      }
    } catch (fault) {
      if (!(fault instanceof BrokerFault) || fault.kind === 'credentials_rejected') throw fault
      this.#parts.log.warn('positions are returned without prices', { reason: fault.kind })
    }
    return marks
  }

  #read<T>(request: HttpRequest, parse: (answer: Wire) => T, signal: AbortSignal, kind: CallPriority = 'read'): Promise<T> {
    return this.#parts.calls.read('standard', request, reply => parse(demanded(reply)), signal, { kind })
  }

  /** `keyOf` identifies a record that a later page may repeat, when others have come before it meanwhile. */
  async #pages(
    request: (page: number) => HttpRequest,
    parse: (answer: Wire) => readonly Wire[],
    signal: AbortSignal,
    keyOf: ((record: Wire) => string) | null = null
  ): Promise<readonly Wire[]> {
    const all: Wire[] = []
    const seen = new Map<string, Wire>()
    for (let page = 1; page <= PAGES_MAX; page += 1) {
      const records = await this.#read(request(page), answer => keyed(parse(answer), keyOf), signal)
      for (const [key, record] of records) key === null ? all.push(record) : seen.set(key, record)
      if (records.length < PAGE_LEAST) return [...all, ...seen.values()]
    }
    throw new BrokerFault('refused', `the list has more than ${PAGES_MAX} pages; request a shorter time`)
  }

  #asRead<T>(read: () => T): T {
    try {
      return read()
    } catch (cause) {
      throw cause instanceof BrokerFault
        ? cause
        : new BrokerFault('malformed', `Tradier's answer cannot be read: ${messageOf(cause)}`, { cause })
    }
  }
}

function keyed(records: readonly Wire[], keyOf: ((record: Wire) => string) | null): readonly (readonly [string | null, Wire])[] {
  return records.map(record => [keyOf === null ? null : keyOf(record), record])
}

/** An answer about the request itself, not about why there is none. */
function demanded(reply: HttpReply): Wire {
  const answer = readAnswer(reply.body)
  const errors = errorsOf(answer)
  if (errors !== null && Object.keys(answer).length === 1) throw new BrokerFault('refused', `Tradier answered: ${joined(errors)}`)
  return answer
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : 'unknown'
}
