import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseJson } from '@trunkline/core/domain/json'
import { epochMs, parseTimestamp, type Timestamp } from '@trunkline/core/domain/timestamp'
import type { SealedLine } from '../admin/operations.ts'
import { CommandFailed, type Common, type Console, counted, outJson } from './console.ts'
import { perform } from './operator.ts'

/** Entries asked for at once: some megabytes. */
const PAGE = 5_000
/** A line is an entry and its hash; nothing that we write comes near it. */
const LINE_MAX = 1024 * 1024

interface Range {
  readonly from?: string
  readonly to?: string
}

/**
 * Writes the chain as JSON lines, from the first entry at or after `from` up to the first that is later than `to`, without a gap. One part is in
 * memory at a time.
 */
export async function exportAudit(console: Console, { from, to }: Range): Promise<void> {
  const first = from === undefined ? null : parseTimestamp(from, '--from')
  const last = to === undefined ? null : parseTimestamp(to, '--to')
  let position = 0
  let isBegun = false
  for (;;) {
    const page = await perform(console, 'audit.export', { after: position, limit: PAGE })
    for (const line of page) {
      const at = timeOf(line)
      isBegun ||= first === null || epochMs(at) >= epochMs(first)
      if (last !== null && epochMs(at) > epochMs(last)) return
      if (isBegun) console.out(`${JSON.stringify(line)}\n`)
    }
    position = page.at(-1)?.position ?? position
    if (page.length < PAGE) return
  }
}

/** Checks an exported file without the service or its database. */
export async function verifyExport(console: Console, file: string, { json }: Common): Promise<void> {
  let before: SealedLine | null = null
  let entries = 0
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    const line = read(text, entries + 1)
    // What the first line follows is not in the file, unless it is the first of all.
    const previous = before?.hash ?? (line.position === 1 ? '00'.repeat(32) : null)
    if (before !== null && line.position !== before.position + 1) throw broken(before.position + 1, 'the entry is missing')
    if (previous !== null && hashOf(previous, line.entry) !== line.hash)
      throw broken(line.position, 'the entry, or the one before it, was altered')
    before = line
    entries += 1
  }
  const head = before === null ? null : { position: before.position, hash: before.hash }
  if (json) return outJson(console, { entries, head })
  if (head === null) return console.out('The file has no entries.\n')
  console.out(
    `${counted(entries, 'entry', 'entries')}, all as they were written. The file ends at ${head.position}:${head.hash}\n` +
      'Compare that with the service: npm run cli -- audit verify --kept <that>\n'
  )
}

function hashOf(previous: string, entry: string): string {
  return createHash('sha256').update(Buffer.from(previous, 'hex')).update(entry, 'utf8').digest('hex')
}

function timeOf({ entry }: SealedLine): Timestamp {
  return parseTimestamp(Reflect.get(Object(parseJson(entry)), 'at'), 'at')
}

function read(text: string, number: number): SealedLine {
  try {
    if (text.length > LINE_MAX) throw new Error('too long')
    const { position, entry, hash }: { readonly position?: unknown; readonly entry?: unknown; readonly hash?: unknown } = Object(
      parseJson(text)
    )
    if (typeof position === 'number' && typeof entry === 'string' && typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash))
      return { position, entry, hash }
  } catch {
    // Told below, without what the line holds.
  }
  throw new CommandFailed(1, `Line ${number} is not an exported entry: it must be {"position","entry","hash"} as audit export writes it.`)
}

function broken(position: number, why: string): CommandFailed {
  return new CommandFailed(1, `The file was tampered with at entry ${position}: ${why}.`)
}
