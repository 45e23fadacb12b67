// The commands of a Markdown document, run in one shell as a reader pastes them, and its outputs held against what they print.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { delimiter, join } from 'node:path'
import { PATIENCE_MS } from '@trunkline/testkit/patience'

export interface Block {
  /** The info string of the fence: the language, then what the block is for. */
  readonly marks: readonly string[]
  readonly text: string
  readonly line: number
}

/** The fenced blocks of a document, in order. */
export function blocksIn(markdown: string): readonly Block[] {
  return [...markdown.matchAll(/^```(\S[^\n]*)\n([\s\S]*?)^```$/gm)].map(({ 1: marks = '', 2: text = '', index }) => ({
    marks: marks.trim().split(/\s+/),
    text,
    line: markdown.slice(0, index).split('\n').length
  }))
}

// What differs from run to run, distinguished by its form.
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/http:\/\/127\.0\.0\.1:\d+/g, 'ADDRESS'],
  [/\/connect\/[\w-]+/g, '/connect/LINK'],
  [/\?code=[\w-]+/g, '?code=CODE'],
  [/\b(pk|sk|us|mdt)_[\w-]+/g, '$1_KEY'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, 'TIME'],
  [/practice-[0-9a-f]+/g, 'PASSWORD'],
  // Market data have no zeros at the end of a decimal, and prices of orders have two places at least: a document shows which.
  [/(?<="(?:o|h|l|c|v|bp|bs|ap|as|p|s)":)"-?\d+(?:\.\d*[1-9])?"/g, '"DECIMAL"'],
  [/-?\d+(\.\d+)?/g, 'N']
]

/** Fails unless `printed` is what the document shows: `…` stands for the rest of a line, and a line of `⋮` for any number of lines. */
export function holdAgainst(shown: string, printed: string, where: string): void {
  const pattern = masked(shown.trimEnd())
    .split('\n')
    .map(line => (line === '⋮' ? '[^]*' : line.split('…').map(RegExp.escape).join('.*')))
    .join('\n')
  assert.match(masked(printed.trimEnd()), new RegExp(`^${pattern}$`), `${where} shows another text than is printed:\n${printed}`)
}

function masked(text: string): string {
  return CHANGING.reduce((left, [pattern, name]) => left.replace(pattern, name), text)
}

/** A reader's: without what npm puts in front for its own programs, the pinned Node among it. */
const OWN_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter(folder => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter)

/** A shell that stays, as a reader's terminal does. */
export class Shell implements AsyncDisposable {
  readonly #child: ChildProcess
  #printed = ''
  #isStuck = false
  #onOutput: () => void = () => undefined

  /** @param cwd where the reader is. */
  constructor(cwd: string, program = 'sh') {
    // In a group of its own, so that what it left running ends with it.
    this.#child = spawn(program, [], { cwd, stdio: ['pipe', 'pipe', 'inherit'], env: { PATH: OWN_PATH, HOME: cwd }, detached: true })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text
      this.#onOutput()
    })
    // One pipe keeps the order: of two, complaints could come after the mark that ends a run.
    this.#child.stdin?.write('exec 2>&1\n')
  }

  /** Runs the lines and gives all they print, complaints included. */
  async run(lines: string): Promise<string> {
    const end = `--- ${randomUUID()} ---`
    this.#printed = ''
    this.#child.stdin?.write(`${lines}\necho '${end}'\n`)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const patience = setTimeout(() => {
      this.#isStuck = true
      reject(new Error(`after ${PATIENCE_MS} ms still running:\n${lines}\n${this.#printed}`))
    }, PATIENCE_MS)
    this.#onOutput = () => void (this.#printed.includes(end) && resolve())
    await promise.finally(() => clearTimeout(patience))
    return this.#printed.slice(0, this.#printed.indexOf(end))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>(resolve => this.#child.once('close', () => resolve()))
    this.#child.once('exit', () => this.#endGroup())
    this.#child.stdin?.end()
    // A shell that waits for something in vain would never see the end of its input.
    if (this.#isStuck) this.#endGroup()
    await closed
  }

  #endGroup(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid)
    } catch {
      // Nothing was left running.
    }
  }
}
