/** Small data in the recorded format, created by the tests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipEntry {
  readonly name: string
  readonly text: string
  /** The directory's claims, if they differ from the truth. */
  readonly claimedSize?: number
  readonly claimedCrc?: number
}

/** A zip archive of deflated entries. */
export function zipped(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, text, claimedSize, claimedCrc } of entries) {
    const packed = deflateRawSync(text)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(claimedCrc ?? crc32(text), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(claimedSize ?? Buffer.byteLength(text), 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const file = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), common, tail, Buffer.from(name)]))
    files.push(file)
    offset += file.length
  }
  const listing = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.length, 4)
  end.writeUInt16LE(entries.length, 6)
  end.writeUInt32LE(listing.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...files, listing, Buffer.from('PK\x05\x06'), end])
}

/** A folder of recorded data that is removed with the test; a text becomes a zip of one entry, bytes stay unchanged. */
export function madeFolder(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'made-market-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? zipped([{ name: 'data.csv', text: content }]) : content)
  }
  return folder
}

const OPEN = 34_200_000

/** One morning of a share: ticks, seconds, minutes, the quotes beside them, and two days of history. */
export const MORNING = {
  'equity/usa/tick/abc/20240708_trade.zip': [
    `${OPEN},1000000,100,P,1,0`,
    `${OPEN + 250},1000500,50,P,1,0`,
    `${OPEN + 300},9990500,50,P,1,1`,
    `${OPEN + 60_000},999900,200,Q,1,0`,
    ''
  ].join('\n'),
  'equity/usa/second/abc/20240708_quote.zip': [
    `${OPEN},999900,1000100,999900,1000000,300,1000100,1000300,1000100,1000200,400`,
    `${OPEN + 60_000},999800,999800,999800,999800,500,,,,,`,
    ''
  ].join('\r\n'),
  'equity/usa/minute/abc/20240708_trade.zip': `${OPEN},1000000,1000500,1000000,1000500,150\n${OPEN + 60_000},999900,999900,999900,999900,200\n`,
  'equity/usa/minute/abc/20240709_trade.zip': `${OPEN},1000700,1000700,999900,1000100,7\n`,
  'equity/usa/daily/abc.zip': '20240705 00:00,990000,1001000,980000,1000000,5000\n20240708 00:00,1000000,1000500,999900,999900,350\n',
  'crypto/somewhere/minute/abcusdt/20240708_trade.zip': '0,0.5,0.7,0.4,0.6,1.00000001\n60000,0.6,0.6,0.6,0.6,0.3\n',
  'crypto/somewhere/minute/abcusdt/20240708_quote.zip': '0,0.5,0.5,0.5,0.5,2.5833652000000003,0.51,0.51,0.51,0.51,3\n'
} as const
