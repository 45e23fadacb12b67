/** The market stream: quotes and prints of the symbols that were asked for last. */

import type { DialectHouse } from '../../../house/dialect.ts'
import type { Pass } from '../../../house/oauth/grants.ts'
import { Problem } from '../../../house/problems.ts'
import type { Entrance } from '../../../house/stream/gate.ts'
import { type DialectLine, DialectLines } from '../../frame/lines.ts'
import { isTradiers } from '../market/quotes.ts'
import type { Tape } from '../market/tape.ts'
import { fromTradier } from '../symbols.ts'
import { Door, type Talk, textList } from './door.ts'
import { Feed, FILTERS, type Filter } from './feed.ts'
import { type Session, Sessions } from './sessions.ts'

export interface MarketStreamDeps {
  readonly house: DialectHouse
  readonly tape: Tape
}

const WAITING_BYTES_MAX = 4 * 1024 * 1024
const SYMBOLS_MAX = 5_000
/** A list must not be empty; this stands for nothing. */
const NOTHING = '$empty$'

export class MarketStream {
  readonly #deps: MarketStreamDeps
  readonly #sessions: Sessions
  readonly #lines: DialectLines
  readonly #door: Door
  readonly entrance: Entrance

  constructor(deps: MarketStreamDeps, path: string) {
    const { house } = deps
    this.#deps = deps
    this.#sessions = new Sessions(house.realNow, house.newId)
    this.#lines = new DialectLines({
      now: house.realNow,
      waitingMax: WAITING_BYTES_MAX,
      garbled: '{"type":"quo',
      codes: { going: 1001, tokenEnded: 1008, slow: 1008 }
    })
    this.#door = new Door({ sessions: this.#sessions, lines: this.#lines, begin: line => this.#begin(line), onTrouble: house.onTrouble })
    this.entrance = { path, accept: (request, socket, head) => this.#door.accept(request, socket, head) }
  }

  get lines(): DialectLines {
    return this.#lines
  }

  get door(): Door {
    return this.#door
  }

  session(pass: Pass): Session {
    return this.#sessions.create(pass)
  }

  reset(): void {
    this.#sessions.clear()
    this.#lines.reset()
  }

  close(): void {
    this.#lines.close()
  }

  #begin(line: DialectLine): Talk {
    const { house } = this.#deps
    const taken = new Map<string, Feed>()
    let filters: ReadonlySet<Filter> | null = null
    const drop = (symbol: string) => {
      taken.get(symbol)?.[Symbol.dispose]()
      taken.delete(symbol)
    }
    return {
      hear: message => {
        const wanted = this.#wanted(textList(message, 'symbols'))
        // What is filtered is settled by the first message, the symbols by the last.
        filters ??= filtersOf(textList(message, 'filter'))
        const settings = { filters, end: message.linebreak === true ? '\n' : '', validOnly: message.validOnly !== false }
        for (const symbol of taken.keys()) if (!wanted.has(symbol)) drop(symbol)
        for (const symbol of wanted) {
          const instrument = house.contracts.find(symbol)
          if (taken.has(symbol) || !isTradiers(instrument)) continue
          taken.set(symbol, new Feed({ ...this.#deps, instrument, settings, out: frame => line.event(frame) }))
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
