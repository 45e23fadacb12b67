/** Streams the lines of a zipped text: one pass, a bounded part in memory at a time, checksum and size verified. */
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import yauzl from 'yauzl'
import { BadMarketData } from './bad-data.ts'

/** Bounds for one archive. Beyond any of them it is refused before or during reading. */
export interface ZipLimits {
  /** Bytes of the unpacked entry. The largest recorded files, a busy symbol's ticks of one day, have less than a quarter of the default. */
  readonly unpackedBytesMax: number
  /** Entries that an archive may list; option files have one per contract. */
  readonly entriesMax: number
  readonly lineCharsMax: number
}

export const ZIP_LIMITS: ZipLimits = { unpackedBytesMax: 1_073_741_824, entriesMax: 20_000, lineCharsMax: 1_024 }

/** Lines that arrived together, in file order; `first` is the number of the first one, counted from 1. Without empty last lines. */
export interface LineBatch {
  readonly first: number
  readonly lines: readonly string[]
}

/**
 * The lines of a text in a zip file.
 * @param wanted one of {@link zipEntries}, if the archive has several; by default it must have exactly one
 * @throws BadMarketData
 */
export async function* zippedLines(file: string, limits: ZipLimits = ZIP_LIMITS, wanted?: ZipText): AsyncGenerator<LineBatch> {
  const zip = await opened(file)
  try {
    const entry = wanted ?? (await findEntry(zip, { file, limits }))
    refuseBig(entry, file, limits)
    let stream: Readable
    try {
      stream = await zip.openReadStreamPromise(entry)
    } catch (cause) {
      throw new BadMarketData('zip_damaged', { file }, `the entry ${entry.fileName} cannot be opened; fetch the file again`, cause)
    }
    yield* split(stream, { file, limits, crc: entry.crc32 })
  } finally {
    zip.close()
  }
}

/** The position of a text in its archive, so that it need not be searched again among hundreds. */
export type ZipText = yauzl.Entry

/** The texts in a zip file. @throws BadMarketData */
export async function zipEntries(file: string, limits: ZipLimits = ZIP_LIMITS): Promise<readonly ZipText[]> {
  const zip = await opened(file)
  try {
    refuseCrowded(zip, file, limits)
    const texts: ZipText[] = []
    for await (const entry of zip.eachEntry()) if (!entry.fileName.endsWith('/')) texts.push(entry)
    return texts
  } catch (cause) {
    if (cause instanceof BadMarketData) throw cause
    throw new BadMarketData('zip_damaged', { file }, DAMAGED_DIRECTORY, cause)
  } finally {
    zip.close()
  }
}

async function opened(file: string): Promise<yauzl.ZipFile> {
  try {
    // Closed by us: automatic closing would close the file at the end of the directory, before its entry is read.
    return await yauzl.openPromise(file, { autoClose: false })
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
    if (missing) throw new BadMarketData('missing', { file }, 'there is no such file', cause)
    throw new BadMarketData('zip_damaged', { file }, 'this is not a complete zip file; fetch it again', cause)
  }
}

interface Search {
  readonly file: string
  readonly limits: ZipLimits
}

const DAMAGED_DIRECTORY = 'its directory is damaged; fetch it again'

function refuseCrowded({ entryCount }: yauzl.ZipFile, file: string, { entriesMax }: ZipLimits): void {
  if (entryCount > entriesMax) throw new BadMarketData('zip_too_big', { file }, `it lists ${entryCount} entries, ${entriesMax} are allowed`)
}

async function findEntry(zip: yauzl.ZipFile, { file, limits }: Search): Promise<ZipText> {
  refuseCrowded(zip, file, limits)
  const found: ZipText[] = []
  try {
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/')) found.push(entry)
      if (found.length > 1) break
    }
  } catch (cause) {
    throw new BadMarketData('zip_damaged', { file }, DAMAGED_DIRECTORY, cause)
  }
  const [entry] = found
  if (entry === undefined || found.length > 1)
    throw new BadMarketData('entry_missing', { file }, `expected exactly one text inside, found ${found.length === 0 ? 'none' : 'several'}`)
  return entry
}

function refuseBig({ uncompressedSize }: ZipText, file: string, { unpackedBytesMax }: ZipLimits): void {
  if (uncompressedSize > unpackedBytesMax)
    throw new BadMarketData('zip_too_big', { file }, `it unpacks to ${uncompressedSize} bytes, ${unpackedBytesMax} are allowed`)
}

interface Text {
  readonly file: string
  readonly limits: ZipLimits
  readonly crc: number
}

async function* split(stream: Readable, { file, limits, crc }: Text): AsyncGenerator<LineBatch> {
  let rest = ''
  let first = 1
  let sum = 0
  try {
    for await (const chunk of stream) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a zip entry must stream bytes')
      sum = crc32(chunk, sum)
      // Recorded files are ASCII. In Latin-1 no character can be split between two chunks, and a foreign byte fails as a number.
      const lines = (rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')).split('\n')
      rest = lines.pop() ?? ''
      refuseLong(lines, rest, { file, first, charsMax: limits.lineCharsMax })
      if (lines.length > 0) yield { first, lines }
      first += lines.length
    }
  } catch (cause) {
    if (cause instanceof BadMarketData) throw cause
    throw new BadMarketData('zip_damaged', { file, line: first }, 'the archive breaks off or is damaged here; fetch it again', cause)
  }
  if (rest.trim() !== '') yield { first, lines: [rest] }
  if (sum !== crc) throw new BadMarketData('zip_damaged', { file }, 'its checksum is wrong; fetch it again')
}

function refuseLong(
  lines: readonly string[],
  rest: string,
  at: { readonly file: string; readonly first: number; readonly charsMax: number }
): void {
  const index = lines.findIndex(line => line.length > at.charsMax)
  if (index < 0 && rest.length <= at.charsMax) return
  const line = at.first + (index < 0 ? lines.length : index)
  throw new BadMarketData('line_too_long', { file: at.file, line }, `a line may have ${at.charsMax} characters`)
}
