import { openCatalog } from '../../../packages/sandbox/src/market/lean/catalog.ts'
import { recordedTradeBars } from '../../../packages/sandbox/src/market/lean/recorded-bars.ts'
import { Chance } from '../../../packages/testkit/src/crash/index.ts'

/** The same market events in two formats: as texts, one per message. */
export interface Messages {
  /** In Coinbase's public format: `match`, and `snapshot` of ten levels per side. */
  readonly coinbase: KindTexts
  /** In the format of the sandbox's market stream. */
  readonly sandbox: KindTexts
  /** Their origin. */
  readonly origin: string
}

export interface KindTexts {
  readonly trades: readonly string[]
  readonly books: readonly string[]
}

interface Print {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly price: string
  readonly size: string
}

const SEED = 20_161_007
const MADE_UP = 4_000
const LEVELS = 10
const SYMBOL = 'BTC/USD'
const PRODUCT = 'BTC-USD'

/**
 * @param folder of recorded data in the LEAN format with seconds of BTC/USD; null: prices from a seed. @throws BadMarketData; Error if the
 * folder has none
 */
export async function messagesFrom(folder: string | null): Promise<Messages> {
  const chance = new Chance(SEED)
  const prints = folder === null ? madeUp(chance) : await recorded(folder)
  const books = prints.map(print => ({ print, bids: levels(print, -1, chance), asks: levels(print, 1, chance) }))
  return {
    coinbase: {
      trades: prints.map((print, number) => match(print, number, chance)),
      books: books.map(({ print: { at }, bids, asks }) =>
        JSON.stringify({ type: 'snapshot', product_id: PRODUCT, asks, bids, time: timeOf(at) })
      )
    },
    sandbox: {
      trades: prints.map(({ at, price, size }) =>
        JSON.stringify({ t: 'trade', s: SYMBOL, p: price, z: size, x: 'COINBASE', at: `${at}000`, k: 'all' })
      ),
      books: books.map(({ print: { at }, bids, asks }) => {
        const described = (side: readonly Level[]) => side.map(([price, size]) => [price, size, '1', 'COINBASE', `${at}000`])
        return JSON.stringify({ t: 'depth', s: SYMBOL, bids: described(bids), asks: described(asks), at: `${at}000` })
      })
    },
    origin: folder === null ? `generated from seed ${SEED}` : `${prints.length.toLocaleString('en')} recorded seconds of ${SYMBOL}`
  }
}

async function recorded(folder: string): Promise<readonly Print[]> {
  const catalog = await openCatalog(folder)
  const file = catalog.files.find(({ symbol, resolution, data }) => symbol === SYMBOL && resolution === 'second' && data === 'trade')
  if (file === undefined) throw new Error(`${folder} has no seconds of ${SYMBOL}`)
  const bars = await recordedTradeBars(catalog, { symbol: SYMBOL, resolution: 'second', date: file.date })
  return bars.map(({ start, close, volume }) => ({ at: start, price: close, size: volume }))
}

function madeUp(chance: Chance): readonly Print[] {
  let cents = 61_178
  return Array.from({ length: MADE_UP }, (_, second) => {
    cents += chance.whole(-20, 20)
    return {
      at: 1_475_798_400_000_000 + second * 1_000_000,
      price: (cents / 100).toFixed(2),
      size: (chance.whole(1, 400_000_000) / 1e8).toFixed(8)
    }
  })
}

function match({ at, price, size }: Print, number: number, chance: Chance): string {
  const id = () => `${hex(chance, 8)}-${hex(chance, 4)}-4${hex(chance, 3)}-8${hex(chance, 3)}-${hex(chance, 12)}`
  return JSON.stringify({
    type: 'match',
    trade_id: 21_000_000 + number,
    maker_order_id: id(),
    taker_order_id: id(),
    side: chance.happens(0.5) ? 'sell' : 'buy',
    size,
    price,
    product_id: PRODUCT,
    sequence: 1_500_000_000 + 7 * number,
    time: timeOf(at)
  })
}

type Level = readonly [price: string, size: string]

/** Ten prices on one side of the print, a cent or a few apart. */
function levels({ price }: Print, away: 1 | -1, chance: Chance): readonly Level[] {
  let cents = Math.round(Number(price) * 100)
  return Array.from({ length: LEVELS }, () => {
    cents += away * chance.whole(1, 5)
    return [(cents / 100).toFixed(2), (chance.whole(1, 2_000_000_000) / 1e8).toFixed(8)]
  })
}

function timeOf(micros: number): string {
  return `${new Date(Math.floor(micros / 1_000)).toISOString().slice(0, -1)}${String(micros % 1_000).padStart(3, '0')}Z`
}

function hex(chance: Chance, digits: number): string {
  return Array.from({ length: digits }, () => chance.whole(0, 15).toString(16)).join('')
}
