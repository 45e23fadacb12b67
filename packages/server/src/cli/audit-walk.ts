import { createHash } from 'node:crypto'
import { parseJson } from '@trunkline/core/domain/json'
import type { ChainHead, SealedLine } from '../admin/operations.ts'

/** The `previous` hash of the very first entry. */
export const FIRST_PREVIOUS = '00'.repeat(32)

/** The file is not part of a chain. The message says where and why, and never contains the line's content. */
export class ExportBroken extends Error {
  override readonly name = 'ExportBroken'
}

interface ExportedLine extends SealedLine {
  /** Null if an older version wrote the file, without this key. */
  readonly previous: string | null
}

/** A line of an exported file. With `previous` undefined, the format of older versions. */
export function lineOf({ position, previous, entry, hash }: SealedLine & { readonly previous: string | undefined }): string {
  return JSON.stringify({ position, previous, entry, hash })
}

/** Verifies the lines of an exported file up to the first fault. */
export class ExportWalk {
  readonly #kept: ChainHead | null
  #lines = 0
  #previous: ChainHead | null
  /** The entry before the first one; null before the first line was read. */
  begin: ChainHead | null = null
  /** The last entry. */
  end: ChainHead | null = null

  /** @param before the entry that the first one must follow. @param kept a chain head that the file must contain. */
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

  /** @throws ExportBroken if the file does not contain the kept chain head. */
  finish(): void {
    const [kept, begin, end] = [this.#kept, this.begin, this.end]
    if (kept === null || (begin !== null && end !== null && kept.position >= begin.position && kept.position <= end.position)) return
    const has = begin === null || end === null ? 'has no entries' : `goes from after entry ${begin.position} to entry ${end.position}`
    throw new ExportBroken(`The file ${has}, so it cannot be compared with entry ${kept.position} of --kept.`)
  }

  #begin(previous: ChainHead): void {
    this.begin = previous
    this.#compare(previous)
  }

  #compare({ position, hash }: ChainHead): void {
    if (this.#kept?.position === position && this.#kept.hash !== hash)
      throw broken(position, 'the hash differs from the one given with --kept')
  }

  #beforeFirst({ position, previous }: ExportedLine): ChainHead {
    if (position === 1) return { position: 0, hash: FIRST_PREVIOUS }
    if (previous !== null) return { position: position - 1, hash: previous }
    const kept = this.#kept
    if (kept?.position === position - 1) return kept
    throw new ExportBroken(
      `An older version wrote this file, without the hash before its first entry, so that entry cannot be verified. Export again, or name the entry before it with --follows <file> or --kept ${position - 1}:<hash>.`
    )
  }
}

function hashOf(previous: string, entry: string): string {
  return createHash('sha256').update(Buffer.from(previous, 'hex')).update(entry, 'utf8').digest('hex')
}

/** In characters. A line is one entry and two hashes, which are far shorter. */
export const LINE_MAX = 1024 * 1024

function read(text: string, number: number): ExportedLine {
  try {
    if (text.length > LINE_MAX) throw new Error('too long')
    const { position, previous, entry, hash }: { readonly [Name in keyof ExportedLine]?: unknown } = Object(parseJson(text))
    if (isPosition(position) && typeof entry === 'string' && isHash(hash) && (previous === undefined || isHash(previous))) {
      // Must match exactly: a duplicate or additional key would show readers something that was not verified.
      if (text === lineOf({ position, previous, entry, hash })) return { position, previous: previous ?? null, entry, hash }
    }
  } catch {
    // Reported below, without the line's content.
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
