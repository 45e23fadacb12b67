import { createHash } from 'node:crypto'
import { parseJson } from '@trunkline/core/domain/json'
import type { ChainHead, SealedLine } from '../admin/operations.ts'

/** The hash that the first entry of all follows. */
export const FIRST_PREVIOUS = '00'.repeat(32)

/** A file that is not a part of a chain. The message says where and why, without what the line holds. */
export class ExportBroken extends Error {
  override readonly name = 'ExportBroken'
}

interface ExportedLine extends SealedLine {
  /** Null: the file was written by a version that did not say it. */
  readonly previous: string | null
}

/** A line of an exported file. `previous` undefined: as versions wrote it that did not say it. */
export function lineOf({ position, previous, entry, hash }: SealedLine & { readonly previous: string | undefined }): string {
  return JSON.stringify({ position, previous, entry, hash })
}

/** Follows the lines of an exported file up to the first fault. */
export class ExportWalk {
  readonly #kept: ChainHead | null
  #lines = 0
  #previous: ChainHead | null
  /** What the first entry follows; null as long as there is none. */
  begin: ChainHead | null = null
  /** The last entry. */
  end: ChainHead | null = null

  /** @param before the entry that the first must follow. @param kept what the file must go through. */
  constructor(before: ChainHead | null, kept: ChainHead | null) {
    this.#previous = before
    this.#kept = kept
  }

  get entries(): number {
    return this.#lines
  }

  /** @throws ExportBroken */
  step(text: string): void {
    const line = read(text, this.#lines + 1)
    const previous = this.#previous ?? this.#beforeFirst(line)
    if (line.position !== previous.position + 1) throw broken(previous.position + 1, 'the entry is missing')
    if (line.previous !== null && line.previous !== previous.hash) throw broken(line.position, 'it does not follow the entry before it')
    if (hashOf(previous.hash, line.entry) !== line.hash) throw broken(line.position, 'the entry, or the one before it, was altered')
    this.#lines += 1
    if (this.begin === null) this.#begin(previous)
    this.end = this.#previous = { position: line.position, hash: line.hash }
    this.#compare(this.end)
  }

  /** @throws ExportBroken unless the file went through what was kept. */
  finish(): void {
    const [kept, begin, end] = [this.#kept, this.begin, this.end]
    if (kept === null || (begin !== null && end !== null && kept.position >= begin.position && kept.position <= end.position)) return
    const has = begin === null || end === null ? 'has no entries' : `goes from after entry ${begin.position} to entry ${end.position}`
    throw new ExportBroken(`The file ${has}, so entry ${kept.position}, which was kept, says nothing of it.`)
  }

  #begin(previous: ChainHead): void {
    this.begin = previous
    this.#compare(previous)
  }

  #compare({ position, hash }: ChainHead): void {
    if (this.#kept?.position === position && this.#kept.hash !== hash)
      throw broken(position, 'the chain up to here is not the one whose end was kept')
  }

  #beforeFirst({ position, previous }: ExportedLine): ChainHead {
    if (position === 1) return { position: 0, hash: FIRST_PREVIOUS }
    if (previous !== null) return { position: position - 1, hash: previous }
    const kept = this.#kept
    if (kept?.position === position - 1) return kept
    throw new ExportBroken(
      `The file does not say what its first entry follows, so that entry cannot be checked: an older version wrote it. Export it once more, or say what it follows, with --follows <file> or --kept ${position - 1}:<hash>.`
    )
  }
}

function hashOf(previous: string, entry: string): string {
  return createHash('sha256').update(Buffer.from(previous, 'hex')).update(entry, 'utf8').digest('hex')
}

/** In characters. A line is an entry and two hashes; nothing that we write comes near it. */
export const LINE_MAX = 1024 * 1024

function read(text: string, number: number): ExportedLine {
  try {
    if (text.length > LINE_MAX) throw new Error('too long')
    const { position, previous, entry, hash }: { readonly [Name in keyof ExportedLine]?: unknown } = Object(parseJson(text))
    if (isPosition(position) && typeof entry === 'string' && isHash(hash) && (previous === undefined || isHash(previous))) {
      // Letter for letter: a key that is there twice, or one more, would show a reader what was never checked.
      if (text === lineOf({ position, previous, entry, hash })) return { position, previous: previous ?? null, entry, hash }
    }
  } catch {
    // Said below, without what the line holds.
  }
  throw new ExportBroken(
    `Line ${number} is not an exported entry: it must be {"position","previous","entry","hash"} as audit export writes it.`
  )
}

function isPosition(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}

function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}

function broken(position: number, why: string): ExportBroken {
  return new ExportBroken(`The file was tampered with at entry ${position}: ${why}.`)
}
