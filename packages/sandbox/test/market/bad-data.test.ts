import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { BadMarketData, openCatalog, openMarket, recordedQuoteBars, recordedTradeBars } from '../../src/market/index.ts'
import { zippedLines } from '../../src/market/lean/zip.ts'
import { madeFolder, zipped } from './made.ts'

const TRADES = 'equity/usa/minute/abc/20240708_trade.zip'
const QUOTES = 'equity/usa/minute/abc/20240708_quote.zip'
const GOOD = '34200000,1000000,1000000,1000000,1000000,100\n'
const BOMB = 'a'.repeat(200_000_000)

interface Case {
  readonly title: string
  readonly text: string
  readonly reason: string
  readonly line: number
  readonly quotes?: boolean
}

const ROWS: readonly Case[] = [
  { title: 'a missing column', text: `${GOOD}34260000,1000000,1000000,1000000,1000000\n`, reason: 'columns', line: 2 },
  { title: 'a column too many', text: `${GOOD}34260000,1000000,1000000,1000000,1000000,1,2\n`, reason: 'columns', line: 2 },
  { title: 'an empty line in the middle', text: `${GOOD}\n34260000,1,1,1,1,1\n`, reason: 'columns', line: 2 },
  { title: 'rows out of order', text: `34260000,1,1,1,1,1\n${GOOD}`, reason: 'unsorted', line: 2 },
  { title: 'two bars of one minute', text: `${GOOD}${GOOD}`, reason: 'unsorted', line: 2 },
  { title: 'a price that is none', text: '34200000,1000000,x,1000000,1000000,100\n', reason: 'number', line: 1 },
  { title: 'a negative price', text: '34200000,-1,1,1,1,100\n', reason: 'number', line: 1 },
  { title: 'an exponent', text: '34200000,1e6,1e6,1e6,1e6,100\n', reason: 'number', line: 1 },
  { title: 'an absent volume', text: '34200000,1,1,1,1,\n', reason: 'number', line: 1 },
  { title: 'a time beyond the day', text: '86400001,1,1,1,1,1\n', reason: 'number', line: 1 },
  { title: 'a time that is none', text: 'noon,1,1,1,1,1\n', reason: 'number', line: 1 },
  { title: 'a high below the open', text: '34200000,1000000,999999,1,1,100\n', reason: 'inconsistent', line: 1 },
  { title: 'a line of a megabyte', text: `${GOOD}${'9'.repeat(1_000_000)}\n`, reason: 'line_too_long', line: 2 },
  { title: 'half a quote side', text: '34200000,1,1,1,,5,2,2,2,2,5\n', reason: 'number', line: 1, quotes: true },
  { title: 'a side without its size', text: '34200000,1,1,1,1,,2,2,2,2,5\n', reason: 'number', line: 1, quotes: true }
]

for (const { title, text, reason, line, quotes } of ROWS)
  test(`${title} is refused with its file and line`, async t => {
    const path = quotes === true ? QUOTES : TRADES
    const folder = madeFolder(t, { [path]: text })
    const error = await fault(() => read(folder, quotes === true))
    assert.equal(error.reason, reason)
    assert.equal(error.line, line)
    assert.equal(error.file, join(folder, path))
    assert.match(error.message, new RegExp(`, line ${line}: `))
  })

test('an archive truncated at any point is refused', async t => {
  const rows = Array.from({ length: 5_000 }, (_, index) => `${index},${index + 1},${index + 1},${index + 1},${index + 1},1`).join('\n')
  const whole = zipped([{ name: 'data.csv', text: rows }])
  for (const length of [0, 3, 21, Math.floor(whole.length / 2), whole.length - 1]) {
    const folder = madeFolder(t, { [TRADES]: whole.subarray(0, length) })
    const error = await fault(() => read(folder))
    assert.equal(error.reason, 'zip_damaged', `cut to ${length}`)
  }
})

test('an archive with a flipped bit is refused', async t => {
  const rows = Array.from({ length: 5_000 }, (_, index) => `${index},7,7,7,7,${(index * 7_919) % 1_000}`).join('\n')
  const whole = zipped([{ name: 'data.csv', text: rows }])
  const middle = Math.floor(whole.length / 2)
  whole[middle] = (whole[middle] ?? 0) ^ 16
  const error = await fault(() => read(madeFolder(t, { [TRADES]: whole })))
  assert.ok(['zip_damaged', 'columns', 'number', 'unsorted', 'inconsistent', 'line_too_long'].includes(error.reason), error.reason)
})

test('an archive with another text’s checksum is refused', async t => {
  const folder = madeFolder(t, { [TRADES]: zipped([{ name: 'data.csv', text: GOOD, claimedCrc: 1 }]) })
  assert.equal((await fault(() => read(folder))).reason, 'zip_damaged')
})

test('a zip bomb is refused, whether its stated size is true or not, and is never fully unpacked', async t => {
  const limits = { unpackedBytesMax: 1_000_000, entriesMax: 10, lineCharsMax: 1_024 }
  const folder = madeFolder(t, {
    'honest.zip': zipped([{ name: 'data.csv', text: BOMB }]),
    'lying.zip': zipped([{ name: 'data.csv', text: BOMB, claimedSize: 500 }])
  })
  // Measured after the bombs are created; the memory used for that can only shrink from here.
  const before = process.memoryUsage().arrayBuffers
  for (const name of ['honest.zip', 'lying.zip']) {
    const file = join(folder, name)
    const error = await fault(async () => {
      for await (const { lines } of zippedLines(file, limits)) assert.ok(lines.length < 1_000)
    })
    assert.ok(['zip_too_big', 'zip_damaged', 'line_too_long'].includes(error.reason), error.reason)
  }
  assert.ok(process.memoryUsage().arrayBuffers - before < 50_000_000)
})

test('an archive with no text, several texts, or too many entries is refused', async t => {
  const entries = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `${index}.csv`, text: GOOD }))
  for (const [count, reason] of [
    [0, 'entry_missing'],
    [2, 'entry_missing'],
    [20_001, 'zip_too_big']
  ] as const) {
    const folder = madeFolder(t, { [TRADES]: zipped(entries(count)) })
    assert.equal((await fault(() => read(folder))).reason, reason, `${count} entries`)
  }
})

test('a missing folder, one without recordings, and one with invalid hours are refused', async t => {
  const empty = madeFolder(t, { 'readme.txt': 'nothing' })
  assert.equal((await fault(() => openCatalog(join(empty, 'nowhere')))).reason, 'missing')
  assert.equal((await fault(() => openCatalog(empty))).reason, 'missing')
  const odd = madeFolder(t, { [TRADES]: GOOD })
  mkdirSync(dirname(join(odd, 'market-hours.json')), { recursive: true })
  writeFileSync(join(odd, 'market-hours.json'), '{')
  assert.equal((await fault(() => openCatalog(odd))).reason, 'columns')
})

test('a replay stops at the damaged row, after delivering what came before', async t => {
  const many = Array.from({ length: 20_000 }, (_, index) => `${34_200_000 + index * 1_000},10000,10000,10000,10000,100`)
  const folder = madeFolder(t, { 'equity/usa/second/abc/20240708_trade.zip': [...many, 'broken'].join('\n') })
  await using market = await openMarket(`replay:${folder}`, { seed: 'x', calendar: 'exchange' })
  let delivered = 0
  const error = await fault(async () => {
    for (;;) delivered += (await market.next(Number.POSITIVE_INFINITY)).commands.length
  })
  assert.equal(error.line, 20_001)
  assert.ok(delivered > 4_000, `${delivered} delivered`)
  assert.ok(readFileSync(error.file).length > 0)
})

async function read(folder: string, quotes = false): Promise<void> {
  const query = { symbol: 'ABC', resolution: 'minute', date: '2024-07-08' } as const
  const catalog = await openCatalog(folder)
  await (quotes ? recordedQuoteBars(catalog, query) : recordedTradeBars(catalog, query))
}

async function fault(run: () => Promise<unknown>): Promise<BadMarketData> {
  const error = await run().then(
    () => undefined,
    (reason: unknown) => reason
  )
  assert.ok(error instanceof BadMarketData, `expected bad market data, was ${String(error)}`)
  return error
}
