/** Reads of one login: lists are whole or a fault. */

import { BrokerFault } from '@trunkline/core/ports/broker'
import type { HttpReply, HttpRequest } from '../http.ts'
import { everyPage } from '../pages.ts'
import type { Wire } from '../parse.ts'
import type { CallPriority } from '../rate-limiter.ts'
import type { UnknownValueCounter } from '../unknown-values.ts'
import type { Items, ListPage, ListRead } from './read-definitions.ts'
import type { ResourceCalls } from './resource-calls.ts'

export class Reads<Resource extends string> {
  readonly #calls: ResourceCalls<Resource>
  readonly #unknownValues: UnknownValueCounter

  constructor(calls: ResourceCalls<Resource>, unknownValues: UnknownValueCounter) {
    this.#calls = calls
    this.#unknownValues = unknownValues
  }

  /** @throws BrokerFault */
  async list<Query, T>(
    read: ListRead<Resource, Query, T>,
    query: Query,
    signal: AbortSignal,
    kind: CallPriority = 'read'
  ): Promise<Items<T>> {
    const records = await this.records(read, query, signal, kind)
    return this.parsed(() => read.items(records, query, this.#unknownValues))
  }

  /** The records of every page; of several with the same key only the last. @throws BrokerFault */
  async records<Query, T>(
    { resource, request, page, pagesMax = 1, keyOf }: ListRead<Resource, Query, T>,
    query: Query,
    signal: AbortSignal,
    kind: CallPriority = 'read'
  ): Promise<readonly Wire[]> {
    const calls = this.#calls.of(resource)
    const keyed = new Map<string, Wire>()
    let before = ''
    const read = (cursor: string | null): Promise<ListPage> =>
      calls.read(
        request(query, cursor),
        reply => {
          const found = page(reply, cursor)
          if (keyOf !== undefined) return addsTo(keyed, found.records, keyOf) ? found : LAST
          // A single page repeats nothing.
          if (found.next === null && cursor === null) return found
          const text = JSON.stringify(found.records)
          if (text === before) return LAST
          before = text
          return found
        },
        signal,
        { kind }
      )
    const pages = await everyPage(pagesMax, read)
    return keyOf === undefined ? pages.flatMap(({ records }) => records) : [...keyed.values()]
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

/** A broker that ignores the page number sends the same page again and again: the list ends where a page adds nothing. */
const LAST: ListPage = { records: [], next: null }

/** Whether a page had a new record. */
function addsTo(keyed: Map<string, Wire>, records: readonly Wire[], keyOf: (record: Wire) => string): boolean {
  const before = keyed.size
  for (const record of records) keyed.set(keyOf(record), record)
  return keyed.size > before
}

/** A read of one answer, which `parse` makes a list of. @throws Malformed from both parsers */
export function answered<Resource extends string, Query, T>(
  resource: Resource,
  request: (query: Query) => HttpRequest,
  answerOf: (reply: HttpReply) => Wire,
  parse: (answer: Wire, query: Query) => readonly T[]
): ListRead<Resource, Query, T> {
  return {
    resource,
    request,
    page: reply => ({ records: [answerOf(reply)], next: null }),
    items: (answers, query) => ({ known: answers.flatMap(answer => parse(answer, query)), leftOut: [] })
  }
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
