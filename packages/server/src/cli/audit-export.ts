import { createReadStream } from 'node:fs'
import { parseJson } from '@trunkline/core/domain/json'
import { epochMs, parseTimestamp, type Timestamp } from '@trunkline/core/domain/timestamp'
import { reasonOf } from '@trunkline/files/durable'
import type { ChainHead, SealedLine } from '../admin/operations.ts'
import { ExportBroken, ExportWalk, FIRST_PREVIOUS, LINE_MAX, lineOf } from './audit-walk.ts'
import { CommandFailed, type Common, type Console, counted, outJson } from './console.ts'
import { perform } from './operator.ts'

/** Entries read at a time. They take a few megabytes. */
const PAGE = 5_000

interface Range {
  readonly from?: Timestamp
  readonly to?: Timestamp
}

/**
 * Writes the chain as JSON lines, without a gap: from the first entry at or after `from` until the first entry later than `to`, which is
 * left out. Each line contains the hash of the entry before it (`previous`), so the first line can be verified too. One page is in memory
 * at a time.
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
  /** The file of the previous export. */
  readonly follows?: string
  /** A chain head that was noted earlier. */
  readonly kept?: ChainHead
  /** Also compares with the audit log of the service or its database. */
  readonly compare?: boolean
}

/** Verifies an exported file's own chain, and compares it with whatever `options` name. @throws CommandFailed */
export async function verifyExport(console: Console, file: string, { follows, kept, compare, json }: VerifyOptions): Promise<void> {
  const before = follows === undefined ? null : await walked(follows, null, null)
  if (before !== null && before.end === null) throw new CommandFailed(1, `${follows} has no entries, so nothing can follow it.`)
  const { entries, begin, end } = await walked(file, before?.end ?? null, kept ?? null)
  if (begin === null || end === null) throw new CommandFailed(1, `${file} has no entries, so it proves nothing.`)
  const compared = compare === true ? await assertInService(console, end) : false
  const isCompared = compared || follows !== undefined || kept !== undefined
  if (json) return outJson(console, { entries, begin, head: end, compared: isCompared })
  const ends = `It begins after ${begin.position}:${begin.hash}\n and ends at     ${end.position}:${end.hash}\n`
  console.out(`${counted(entries, 'entry', 'entries')} in an unbroken chain.\n${ends}${isCompared ? AGREES : ALONE}`)
}

const AGREES = 'The comparison found no difference.\n'
const ALONE =
  'This shows that the lines are consistent with each other. It does not show that the service wrote them: anyone who can write the file can\n' +
  'rewrite all of it. Compare it with the service (--compare), with the previous export (--follows <file>), or with a chain head that you\n' +
  'noted earlier (--kept <position:hash>).\n'

/** Comparing the last entry is enough: its hash depends on all entries before it. @throws CommandFailed */
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
    // A line without an end must not fill the memory. Once cut, it is not a valid entry.
    if (rest.length > LINE_MAX) rest = rest.slice(0, LINE_MAX + 1)
    for (const line of lines) yield line.slice(0, LINE_MAX + 1)
  }
  if (rest !== '') yield rest
}

function unreadable(file: string, cause: Error): string {
  const isMissing = 'code' in cause && cause.code === 'ENOENT'
  const isFolder = 'code' in cause && cause.code === 'EISDIR'
  const why = isMissing ? 'the file does not exist.' : isFolder ? 'it is a directory.' : reasonOf(cause)
  return `${file} cannot be read: ${why} Name a file that audit export wrote.`
}

function timeOf(entry: SealedLine['entry']): Timestamp {
  return parseTimestamp(Reflect.get(Object(parseJson(entry)), 'at'), 'at')
}
