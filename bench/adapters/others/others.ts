import { NotInstalled } from '../../harness/errors.ts'
import type { Readings } from '../contender.ts'

export interface Other {
  readonly name: string
  readonly readings: Readings
}

export const PARSERS = 'ccxt, parsers alone'
export const WHOLE_WAY = 'ccxt, whole way'

const ASSETS = [
  { class: 'us_equity', symbol: 'AAPL' },
  { class: 'crypto', symbol: 'BTC/USD' }
]
const KEYS = { credentials: { keyId: 'key', secret: 'secret' } }

/**
 * Other libraries that read Alpaca's messages, from the same texts; each parses the JSON itself. `ccxt` twice: its parsers alone, and the
 * full path of a message through its streaming class, to the caller that waits for it.
 * @throws Error with the install command if they are missing
 */
export async function others(): Promise<readonly Other[]> {
  const { ccxt, alpaca } = await installed()
  return [
    { name: PARSERS, readings: parsers(ccxt) },
    { name: WHOLE_WAY, readings: wholeWay(ccxt) },
    { name: '@alpacahq/alpaca-trade-api', readings: official(alpaca) }
  ]
}

async function installed() {
  try {
    const [{ pro }, alpaca] = await Promise.all([import('ccxt'), import('@alpacahq/alpaca-trade-api')])
    const ccxt = new pro.alpaca()
    const asset = { status: 'active', tradable: true, min_order_size: '0.0001', min_trade_increment: '0.0001', price_increment: '0.01' }
    ccxt.setMarkets(ASSETS.map(each => ccxt.parseMarket({ ...asset, ...each })))
    return { ccxt, alpaca }
  } catch (cause) {
    throw new NotInstalled('ccxt and @alpacahq/alpaca-trade-api', 'bench/adapters/others', cause)
  }
}

type Installed = Awaited<ReturnType<typeof installed>>

function parsers(ccxt: Installed['ccxt']): Readings {
  const count = (record: unknown) => (typeof record === 'object' && record !== null ? 1 : 0)
  return {
    order: text => count(ccxt.parseOrder(Object(JSON.parse(text)).data.order)),
    trade: text => count(ccxt.parseTrade(Object(JSON.parse(text))[0])),
    quote: text => count(ccxt.parseTicker(Object(JSON.parse(text))[0]))
  }
}

function wholeWay(ccxt: Installed['ccxt']): Readings {
  let received = 0
  const client = {
    resolve: () => {
      received += 1
    }
  }
  const read = (text: string) => {
    const before = received
    ccxt.handleMessage(client, JSON.parse(text))
    return received > before ? 1 : 0
  }
  return { order: read, trade: read, quote: read }
}

function official({ streaming: { TradingStream, StockDataStream } }: Installed['alpaca']): Readings {
  let received = 0
  const count = () => {
    received += 1
  }
  const orders = new TradingStream(KEYS).onTradeUpdate(count)
  const market = new StockDataStream(KEYS).onTrade(count).onQuote(count)
  const reading = (stream: { handleMessage(message: unknown): void }) => (text: string) => {
    const before = received
    stream.handleMessage(JSON.parse(text))
    return received - before
  }
  return { order: reading(orders), trade: reading(market), quote: reading(market) }
}
