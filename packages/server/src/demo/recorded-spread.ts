import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import yauzl, { type Entry, type ZipFile } from 'yauzl'

/** The lowest bid and the highest ask of one second, in ten-thousandths of a dollar. */
interface Second {
  readonly bid: bigint
  readonly ask: bigint
}

/** The recorded quotes by second of the New York day. Read by code independent of the sandbox's. */
export type Spread = { readonly day: string; readonly seconds: ReadonlyMap<number, Second> }

const COLUMNS = { bidLow: 3, askHigh: 7 }
const LOOK_BACK_SECONDS = 600

/** Reads the one-second quote bars of a symbol's day. @throws Error if the folder does not have them. */
export async function recordedSpread(folder: string, symbol: string, day: string): Promise<Spread> {
  const path = join(folder, 'equity/usa/second', symbol.toLowerCase(), `${day.replaceAll('-', '')}_quote.zip`)
  const seconds = new Map<number, Second>()
  for await (const line of linesOf(path)) {
    const columns = line.split(',')
    const [bid, ask] = [columns[COLUMNS.bidLow] ?? '', columns[COLUMNS.askHigh] ?? '']
    if (bid !== '' && ask !== '') seconds.set(Math.floor(Number(columns[0]) / 1_000), { bid: BigInt(bid), ask: BigInt(ask) })
  }
  return { day, seconds }
}

/** Whether a fill's price is outside the quotes of its second, or of the last quoted second before it. */
export function outsideSpread({ day, seconds }: Spread, time: string, price: string): boolean {
  const local = Temporal.Instant.from(time).toZonedDateTimeISO('America/New_York')
  if (local.toPlainDate().toString() !== day) return true
  const second = Math.floor(local.since(local.startOfDay()).total('seconds'))
  const [whole = '0', fraction = ''] = price.split('.')
  const units = BigInt(whole + fraction.slice(0, 4).padEnd(4, '0'))
  for (let back = 0; back <= LOOK_BACK_SECONDS; back += 1) {
    const quoted = seconds.get(second - back)
    if (quoted === undefined) continue
    // Until the first quote of this second, the quote of the second before is still valid.
    const before = back === 0 ? seconds.get(second - 1) : undefined
    const low = before !== undefined && before.bid < quoted.bid ? before.bid : quoted.bid
    const high = before !== undefined && before.ask > quoted.ask ? before.ask : quoted.ask
    return units < low || units > high
  }
  return true
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const zip = await promisify<string, yauzl.Options, ZipFile>(yauzl.open)(path, { lazyEntries: true })
  const entry = await new Promise<Entry>((resolve, reject) => {
    zip
      .once('entry', resolve)
      .once('error', reject)
      .once('end', () => reject(new Error(`${path} is empty`)))
    zip.readEntry()
  })
  const input = await promisify(zip.openReadStream.bind(zip))(entry)
  yield* createInterface({ input })
  zip.close()
}
