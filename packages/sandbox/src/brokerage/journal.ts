/** An append-only file of JSON lines: the data that the sandbox needs after it was killed. */

import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { FileNotDurable, reasonOf, writeDurably } from '@trunkline/files/durable'

/**
 * `append` returns after the operating system has the lines, so a killed process loses nothing that it acknowledged; a power cut
 * may lose the last moments (the sandbox does not fsync).
 */
export class Journal<Entry> {
  readonly #path: string
  readonly #replace: (path: string, text: string) => void
  #fd: number
  #size: number

  /** Opens or creates the file and passes every entry to `each`, in order. Removes a last line that a crash cut short. */
  constructor(path: string, each: (entry: Entry) => void, replace: (path: string, text: string) => void = writeDurably) {
    this.#path = path
    this.#replace = replace
    this.#size = existsSync(path) ? load(path, each) : 0
    this.#fd = openSync(path, 'a', 0o600)
    ftruncateSync(this.#fd, this.#size)
  }

  append(entry: Entry): void {
    this.appendText(`${JSON.stringify(entry)}\n`)
  }

  /** Appends whole lines, each ended by a newline: all or, if it throws, none. For callers that combine several entries in one write. */
  appendText(lines: string): void {
    const bytes = Buffer.from(lines)
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written)
      this.#size += written
    } catch (cause) {
      ftruncateSync(this.#fd, this.#size)
      throw new Error(`${this.#path} cannot be written: ${reasonOf(cause)}`, { cause })
    }
  }

  /** Replaces the whole content atomically: after a crash the file has the old content or the new. */
  rewrite(entries: Iterable<Entry>): void {
    let text = ''
    for (const entry of entries) text += `${JSON.stringify(entry)}\n`
    try {
      this.#replace(this.#path, text)
    } catch (cause) {
      // The old file is gone, so anything appended to it would be lost.
      if (cause instanceof FileNotDurable) this.#reopen(text)
      throw cause
    }
    this.#reopen(text)
  }

  #reopen(text: string): void {
    const next = openSync(this.#path, 'a', 0o600)
    closeSync(this.#fd)
    this.#fd = next
    this.#size = Buffer.byteLength(text)
  }

  close(): void {
    closeSync(this.#fd)
  }
}

/** @returns the number of bytes that are whole lines. */
function load<Entry>(path: string, each: (entry: Entry) => void): number {
  const bytes = readFileSync(path)
  let start = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    const line = bytes.toString('utf8', start, end)
    // A power cut can leave blocks that were never written; nothing after them is whole.
    if (line.includes('\0')) return start
    start = end + 1
    if (line !== '') each(parseLine(line, path))
  }
  return start
}

function parseLine<Entry>(line: string, path: string): Entry {
  try {
    return JSON.parse(line) as Entry
  } catch (cause) {
    throw new Error(`${path} is damaged: a line in its middle is not JSON. Remove the file to begin with fresh state.`, { cause })
  }
}
