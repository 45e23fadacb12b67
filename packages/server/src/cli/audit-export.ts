import { createReadStream } from 'node:fs'
import { parseJson } from '@trunkline/core/domain/json'
import { epochMs, parseTimestamp, type Timestamp } from '@trunkline/core/domain/timestamp'
import { reasonOf } from '@trunkline/files/durable'
import type { ChainHead, SealedLine } from '../admin/operations.ts'
import { ExportBroken, ExportWalk, FIRST_PREVIOUS, LINE_MAX, lineOf } from './audit-walk.ts'
import { CommandFailed, type Common, type Console, counted, outJson } from './console.ts'
import { perform } from './operator.ts'

/** Entries asked for at once: some megabytes. */
const PAGE = 5_000

interface Range {
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/**
 * Writes the chain as JSON lines, from the first entry at or after `from` up to the first that is later than `to`, without a gap. Each line
 * carries the hash it follows (`previous`), so that its first line can be checked too. One part is in memory at a time.
 */
export async function exportAudit(console: Console, { from: first, to: last }: Range): Promise<void> {
  let position = 0
  let previous = FIRST_PREVIOUS
  let isBegun = false
  for (;;) {
    const page = await perform(console, 'audit.export', { after: position, limit: PAGE })
    for (const { position, entry, hash } of page) {
      const at = timeOf(entry)
      isBegun ||= first === undefined || epochMs(at) >= epochMs(first)
      if (last !== undefined && epochMs(at) > epochMs(last)) return
      if (isBegun) console.out(`${lineOf({ position, previous, entry, hash })}\n`)
      previous = hash
    }
    position = page.at(-1)?.position ?? position
    if (page.length < PAGE) return
  }
}

interface VerifyOptions extends Common {
  /** The export before this one. */
  readonly follows?: string
  readonly kept?: ChainHead
  /** Whether the chain of the service, or of its database, is looked at too. */
  readonly compare?: boolean
}

/** Checks an exported file: by itself, and against what it is given to compare it with. @throws CommandFailed */
export async function verifyExport(console: Console, file: string, { follows, kept, compare, json }: VerifyOptions): Promise<void> {
  const before = follows === undefined ? null : await walked(follows, null, null)
  if (before !== null && before.end === null) throw new CommandFailed(1, `${follows} has no entries, so nothing can follow it.`)
  const { entries, begin, end } = await walked(file, before?.end ?? null, kept ?? null)
  if (begin === null || end === null) throw new CommandFailed(1, `${file} has no entries, so it proves nothing.`)
  const compared = compare === true ? await assertInService(console, end) : false
  const isCompared = compared || follows !== undefined || kept !== undefined
  if (json) return outJson(console, { entries, begin, head: end, compared: isCompared })
  const ends = `It begins after ${begin.position}:${begin.hash}\n and ends at     ${end.position}:${end.hash}\n`
  console.out(`${counted(entries, 'entry', 'entries')}, each following from the one before.\n${ends}${isCompared ? AGREES : ALONE}`)
}

const AGREES = 'It agrees with what it was compared with.\n'
const ALONE =
  'By itself a file proves that its lines belong together, not that they are those of the service: who can write it can write all of it again.\n' +
  'Compare it: with the service (--compare), the export before (--follows <file>), or an end that was kept (--kept <position:hash>).\n'

/** What the chain goes through at the end of the file, it goes through all of the file. @throws CommandFailed */
async function assertInService(console: Console, end: ChainHead): Promise<true> {
  const { broken } = await perform(console, 'audit.verify', { kept: end })
  if (broken === null) return true
  throw new CommandFailed(1, `The file and the service’s audit log do not agree. In the log, entry ${broken.position}: ${broken.why}.`)
}

async function walked(file: string, before: ChainHead | null, kept: ChainHead | null): Promise<ExportWalk> {
  const walk = new ExportWalk(before, kept)
  try {
    for await (const text of linesOf(file)) walk.step(text)
    walk.finish()
  } catch (cause) {
    if (cause instanceof ExportBroken) throw new CommandFailed(1, cause.message)
    if (cause instanceof Error && 'code' in cause) throw new CommandFailed(1, unreadable(file, cause))
    throw cause
  }
  return walk
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(file, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    // A line without an end must not fill the memory; cut, it is no entry.
    if (rest.length > LINE_MAX) rest = rest.slice(0, LINE_MAX + 1)
    for (const line of lines) yield line.slice(0, LINE_MAX + 1)
  }
  if (rest !== '') yield rest
}

function unreadable(file: string, cause: Error): string {
  const isMissing = 'code' in cause && cause.code === 'ENOENT'
  const isFolder = 'code' in cause && cause.code === 'EISDIR'
  const why = isMissing ? 'there is no such file.' : isFolder ? 'it is a folder.' : reasonOf(cause)
  return `${file} cannot be read: ${why} Name a file that audit export wrote.`
}

function timeOf(entry: SealedLine['entry']): Timestamp {
  return parseTimestamp(Reflect.get(Object(parseJson(entry)), 'at'), 'at')
}
