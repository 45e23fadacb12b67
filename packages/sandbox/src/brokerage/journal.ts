/** An append-only file of JSON lines: what the sandbox must still know after it has been killed. */

import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { FileNotDurable, reasonOf, writeDurably } from '@trunkline/files/durable'

/**
 * Lines are handed to the operating system before `append` returns, so a killed process loses nothing it has acknowledged; a power cut
 * may lose the last moments (the sandbox does not fsync).
 */
export class Journal<Entry> {
  readonly #path: string
  readonly #replace: (path: string, text: string) => void
  #fd: number
  #size: number

  /** Opens or creates the file and passes every entry to `each`, in order. A last line cut short by a crash is removed. */
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

  /** Whole lines, each ended by a newline: all of them or, when it throws, none. For those who gather several entries into one write. */
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

  /** Replaces the whole content, at once: after a crash the file has either the old content or the new. */
  rewrite(entries: Iterable<Entry>): void {
    let text = ''
    for (const entry of entries) text += `${JSON.stringify(entry)}\n`
    try {
      this.#replace(this.#path, text)
    } catch (cause) {
      // The file of before is gone: what would be appended to it would be lost.
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

/** @returns how many bytes of the file are whole lines. */
function load<Entry>(path: string, each: (entry: Entry) => void): number {
  const bytes = readFileSync(path)
  let start = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    const line = bytes.toString('utf8', start, end)
    // A power cut can leave blocks that were never written: nothing behind them is whole.
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
