/** Reads of one login: every page of a list is read, or the list is a fault. A record that cannot be read is left out. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { HttpReply, HttpRequest } from '../http.ts'
import { everyPage } from '../pages.ts'
import { text, type Wire } from '../parse.ts'
import type { CallPriority } from '../rate-limiter.ts'
import type { Items, RecordLists } from '../record-lists.ts'
import type { ListContext, ListPage, ListRead, ReadItems } from './read-definitions.ts'
import type { ResourceCalls } from './resource-calls.ts'

export class Reads<Resource extends string> {
  readonly #calls: ResourceCalls<Resource>
  readonly #lists: RecordLists
  readonly #clock: Pick<Clock, 'now'>

  constructor(calls: ResourceCalls<Resource>, lists: RecordLists, clock: Pick<Clock, 'now'>) {
    this.#calls = calls
    this.#lists = lists
    this.#clock = clock
  }

  /** @throws BrokerFault */
  list<Query, T>(
    read: ListRead<Resource, Query, T>,
    query: Query,
    signal: AbortSignal,
    kind: CallPriority = 'read'
  ): Promise<ReadItems<T>> {
    return this.#list(read, query, signal, kind, (...of) => this.#lists.read(...of))
  }

  /** As {@link list}, for what a command depends on: a record that cannot be read makes the list a fault. @throws BrokerFault */
  listStrictly<Query, T>(read: ListRead<Resource, Query, T>, query: Query, signal: AbortSignal, kind: CallPriority): Promise<ReadItems<T>> {
    return this.#list(read, query, signal, kind, (...of) => this.#lists.strictly(...of))
  }

  async #list<Query, T>(
    read: ListRead<Resource, Query, T>,
    query: Query,
    signal: AbortSignal,
    kind: CallPriority,
    readable: ListContext['readable']
  ): Promise<ReadItems<T>> {
    const requestedAt = this.#clock.now()
    const { records, first } = await this.records(read, query, signal, kind)
    const asOf = first.asOf ?? requestedAt
    const items = this.parsed(() => read.items(records, query, { asOf, unknownValues: this.#lists.unknownValues, readable }))
    return first.brokerClock === undefined ? { ...items, asOf } : { ...items, asOf, brokerClock: first.brokerClock }
  }

  /** The records of every page; of several with the same key only the last. @throws BrokerFault */
  async records<Query, T>(
    { resource, request, page, also = [], pagesMax = 1, pageLimits, keyOf }: ListRead<Resource, Query, T>,
    query: Query,
    signal: AbortSignal,
    kind: CallPriority = 'read'
  ): Promise<{ readonly records: readonly Wire[]; readonly first: ListPage }> {
    const calls = this.#calls.of(resource)
    const keyed = new Map<string, Wire>()
    let before = ''
    const read = async (cursor: string | null): Promise<ListPage> => {
      const found = await calls.read(request(query, cursor), reply => page(reply, cursor), signal, { kind, also })
      for (const record of found.records) if (keyOf !== undefined) keyed.set(keyOr(keyOf, record), record)
      if (pageLimits === undefined) return found
      const text = JSON.stringify(found.records)
      const isAgain = text === before
      const isCut = pageLimits.includes(found.records.length)
      before = text
      // Records with ids are not on two pages by chance: no further page would be another one.
      if (isAgain && isCut && keyOf !== undefined && found.next !== null)
        throw new BrokerFault('refused', 'the broker sends one page of its list again and again')
      return isAgain && !isCut ? { ...found, records: [], next: null } : found
    }
    const pages = await everyPage(pagesMax, read)
    const [first] = pages
    return { records: keyOf === undefined ? pages.flatMap(({ records }) => records) : [...keyed.values()], first }
  }

  /** Runs a parser of what was read. @throws BrokerFault */
  parsed<T>(parse: () => T): T {
    try {
      return parse()
    } catch (cause) {
      if (cause instanceof BrokerFault) throw cause
      throw new BrokerFault('malformed', `the broker's answer cannot be read: ${cause instanceof Error ? cause.message : 'unknown'}`, {
        cause
      })
    }
  }
}

/** A record whose key cannot be read goes by its content; it is left out when it is read. */
function keyOr(keyOf: (record: Wire) => string, record: Wire): string {
  try {
    return keyOf(record)
  } catch (error) {
    if (error instanceof Malformed) return JSON.stringify(record)
    throw error
  }
}

/** A read of one answer, which `parse` makes a list of. @throws Malformed from both parsers */
export function answered<Resource extends string, Query, T>(
  resource: Resource,
  request: (query: Query) => HttpRequest,
  answerOf: (reply: HttpReply) => Wire,
  parse: (answer: Wire, query: Query, context: ListContext) => readonly T[]
): ListRead<Resource, Query, T> {
  return {
    resource,
    request,
    page: reply => ({ records: [answerOf(reply)], next: null }),
    items: (answers, query, context) => whole(answers.flatMap(answer => parse(answer, query, context)))
  }
}

/** The items of a list that is read as a whole or not at all. */
export function whole<T>(known: readonly T[]): Items<T> {
  return { known, leftOut: [] }
}

/** The parser of a list in numbered pages; a page of fewer than `full` records is the last. */
export function numberedPages(
  full: number,
  records: (reply: HttpReply) => readonly Wire[]
): (reply: HttpReply, cursor: string | null) => ListPage {
  return (reply, cursor) => {
    const found = records(reply)
    return { records: found, next: found.length < full ? null : String(Number(cursor ?? '1') + 1) }
  }
}

/**
 * The parser of a list in which a page is requested by the last record of the one before, its `key`; a page of fewer than `full` is the
 * last. `countOf`: how many a record may count for, where the broker does not say what its limit counts.
 */
export function pagesByRecord(
  full: number,
  key: string,
  records: (reply: HttpReply) => readonly Wire[],
  countOf: (record: Wire) => number = () => 1
): (reply: HttpReply, cursor: string | null) => ListPage {
  return reply => {
    const found = records(reply)
    const last = found.at(-1)
    const count = found.reduce((sum, record) => sum + countOf(record), 0)
    return { records: found, next: last === undefined || count < full ? null : text(last, key) }
  }
}

/** Lists of orders as one: an order that is in several counts as the last list has it. */
export function mergedOrders(first: ReadItems<OrderReport>, ...later: readonly ReadItems<OrderReport>[]): ReadItems<OrderReport> {
  const all = [first, ...later]
  const orders = new Map(all.flatMap(({ known }) => known).map(order => [order.brokerOrderId, order]))
  return { known: [...orders.values()], leftOut: [...new Set(all.flatMap(({ leftOut }) => leftOut))], asOf: first.asOf }
}
