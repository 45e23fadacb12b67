import { dispatch, SinkTables } from '../../../packages/brokers/src/sandbox/market-stream.ts'
import type { TopicSink } from '../../../packages/core/src/ports/market.ts'
import { NotInstalled } from '../../harness/errors.ts'
import type { Messages } from './messages.ts'

/** Reads one message from its text to the events that a program uses. Returns the number of events. */
export type Reading = (text: string) => number

export interface Contender {
  readonly name: string
  readonly texts: readonly string[]
  readonly read: Reading
}

const SYMBOL = 'BTC/USD'
const PRODUCT = 'BTC-USD'
const TOGETHER = 20

/** The readers of trades, and of books. @throws Error with the install command if the other libraries are missing */
export async function contenders({
  coinbase,
  sandbox
}: Messages): Promise<{ readonly trades: readonly Contender[]; readonly books: readonly Contender[] }> {
  const { tardis, ccxt } = await others()
  const framed = (items: readonly string[]) => items.map((item, index) => frame(index + 1, item))
  const ours = { name: 'the sandbox adapter', read: adapter() }
  return {
    trades: [
      { ...ours, texts: framed(sandbox.trades) },
      { ...ours, name: `the sandbox adapter, ${TOGETHER} to a message`, texts: together(sandbox.trades) },
      { name: 'tardis-dev', texts: coinbase.trades, read: mapped(tardis.normalizeTrades('coinbase', new Date())) },
      { name: 'ccxt', texts: coinbase.trades, read: ccxtTrades(ccxt) }
    ],
    books: [
      { ...ours, texts: framed(sandbox.books) },
      { name: 'tardis-dev', texts: coinbase.books, read: mapped(tardis.normalizeBookChanges('coinbase', new Date())) },
      { name: 'ccxt', texts: coinbase.books, read: ccxtBooks(ccxt) }
    ]
  }
}

async function others() {
  try {
    const [tardis, { coinbaseexchange }] = await Promise.all([import('tardis-dev'), import('ccxt')])
    return { tardis, ccxt: new coinbaseexchange() }
  } catch (cause) {
    throw new NotInstalled('tardis-dev and ccxt', 'bench/market/parsers', cause)
  }
}

function adapter(): Reading {
  const counter = new Counter()
  const tables = new SinkTables()
  tables.add({ channel: 'trades', symbol: SYMBOL }, counter)
  tables.add({ channel: 'depth', symbol: SYMBOL }, counter)
  return text => {
    const before = counter.events
    const { items } = Object(JSON.parse(text))
    dispatch(items, tables)
    return counter.events - before
  }
}

type Mapper = ReturnType<Awaited<ReturnType<typeof others>>['tardis']['normalizeTrades']>
type Ccxt = Awaited<ReturnType<typeof others>>['ccxt']

function mapped(mapper: Mapper): Reading {
  return text => {
    const message: unknown = JSON.parse(text)
    if (!mapper.canHandle(message)) return 0
    let events = 0
    for (const _ of mapper.map(message, new Date())) events += 1
    return events
  }
}

function ccxtTrades(ccxt: Ccxt): Reading {
  const market = ccxt.safeMarket(PRODUCT)
  return text => (ccxt.parseTrade(JSON.parse(text), market) === null ? 0 : 1)
}

function ccxtBooks(ccxt: Ccxt): Reading {
  return text => {
    const book = Object(JSON.parse(text))
    return ccxt.parseOrderBook(book, SYMBOL, ccxt.parse8601(String(book.time))) === null ? 0 : 1
  }
}

function frame(seq: number, items: string): string {
  return `{"seq":${seq},"items":[${items}]}`
}

function together(items: readonly string[]): readonly string[] {
  return Array.from({ length: Math.floor(items.length / TOGETHER) }, (_, index) =>
    frame(index + 1, items.slice(index * TOGETHER, (index + 1) * TOGETHER).join(','))
  )
}

class Counter implements TopicSink {
  events = 0

  trade(): void {
    this.events += 1
  }

  depth(): void {
    this.events += 1
  }

  live(): void {}
  lost(): void {}
  refused(): void {}
  quote(): void {}
  bar(): void {}
  chain(): void {}
}
