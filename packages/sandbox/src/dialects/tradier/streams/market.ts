/** The market stream: quotes and prints of the symbols that were asked for last. */

import { type Pass, Problem, type StreamEndpoint } from '../../frame/brokerage.ts'
import type { BrokerageView } from '../../frame/brokerage-view.ts'
import { type DialectConnection, DialectConnections } from '../../frame/connections.ts'
import { isTradiers } from '../market/quotes.ts'
import { fromTradier } from '../symbols.ts'
import { FILTERS, type Filter, openFeed } from './feed.ts'
import { StreamGateway, type StreamProtocol, textList } from './gateway.ts'
import { type Session, Sessions } from './sessions.ts'

export interface MarketStreamDeps {
  readonly brokerage: BrokerageView
}

const WAITING_BYTES_MAX = 4 * 1024 * 1024
const SYMBOLS_MAX = 5_000
/** A list must not be empty; this stands for nothing. */
const NOTHING = '$empty$'

export class MarketStream {
  readonly #deps: MarketStreamDeps
  readonly #sessions: Sessions
  readonly #connections: DialectConnections
  readonly endpoint: StreamEndpoint

  constructor(deps: MarketStreamDeps, path: string) {
    const { brokerage } = deps
    this.#deps = deps
    this.#sessions = new Sessions(brokerage.realNow, brokerage.newId)
    this.#connections = new DialectConnections({
      now: brokerage.realNow,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '{"type":"quo',
      codes: { going: 1001, tokenEnded: 1008, slow: 1008 }
    })
    const gateway = new StreamGateway({
      sessions: this.#sessions,
      connections: this.#connections,
      begin: connection => this.#begin(connection),
      onError: brokerage.onError
    })
    this.endpoint = { path, accept: (request, socket, head) => gateway.accept(request, socket, head) }
  }

  get connections(): DialectConnections {
    return this.#connections
  }

  session(pass: Pass): Session {
    return this.#sessions.create(pass)
  }

  reset(): void {
    this.#sessions.clear()
    this.#connections.reset()
  }

  close(): void {
    this.#connections.close()
  }

  #begin(connection: DialectConnection): StreamProtocol {
    const { brokerage } = this.#deps
    const taken = new Map<string, Disposable>()
    let filters: ReadonlySet<Filter> | null = null
    const drop = (symbol: string) => {
      taken.get(symbol)?.[Symbol.dispose]()
      taken.delete(symbol)
    }
    return {
      onMessage: message => {
        const wanted = this.#wanted(textList(message, 'symbols'))
        // What is filtered is settled by the first message, the symbols by the last.
        filters ??= filtersOf(textList(message, 'filter'))
        const settings = { filters, end: message.linebreak === true ? '\n' : '', validOnly: message.validOnly !== false }
        for (const symbol of taken.keys()) if (!wanted.has(symbol)) drop(symbol)
        for (const symbol of wanted) {
          const instrument = brokerage.contracts.find(symbol)
          if (taken.has(symbol) || !isTradiers(instrument)) continue
          taken.set(symbol, openFeed({ brokerage, instrument, settings, out: frame => connection.event(frame) }))
        }
      },
      left: () => {
        for (const symbol of [...taken.keys()]) drop(symbol)
      }
    }
  }

  #wanted(symbols: readonly string[]): ReadonlySet<string> {
    if (symbols.length === 0) throw new Error('symbols are missing')
    if (symbols.length > SYMBOLS_MAX) throw new Problem('bad_request', `at most ${SYMBOLS_MAX} symbols`)
    return new Set(symbols.filter(symbol => symbol !== NOTHING).map(fromTradier))
  }
}

/** All of them where none is named. @throws Error */
function filtersOf(words: readonly string[]): ReadonlySet<Filter> {
  const known = FILTERS.filter(filter => words.includes(filter))
  if (known.length < new Set(words).size) throw new Error(`filter must be some of ${FILTERS.join(', ')}`)
  return new Set(known.length === 0 ? FILTERS : known)
}
