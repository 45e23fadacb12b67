/**
 * A fast path for the most frequent messages of a market stream: one flat object, or a list of them, that all have the same few shapes. The
 * shape of a message is recorded when the full parser reads it. Later messages of that shape are scanned, and only the wanted fields are
 * extracted.
 */

import { afterNumber, isNumberStart } from './number-text.ts'

/** Shapes that are remembered; a broker has a handful. */
const FORMS_MAX = 16
const MEMBERS_MAX = 64
/** Longer messages go to the full parser, which enforces the limit. */
const CHARS_MAX = 1_000_000
/** An escape or a control character, in a string or outside: compact messages have none. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNUSUAL = /[\u0000-\u001f\\]/

const QUOTE = 34
const COMMA = 44
const OPEN = 91
const CLOSE = 93
const BEGIN = 123
const END = 125

interface Member {
  /** The member's name as written: `"bp":`. */
  readonly written: string
  /** Null: not wanted. */
  readonly name: string | null
}

type Form = readonly Member[]

/** An object whose fields are not checked yet. */
type Item = Record<string, unknown>

export class FlatReader {
  readonly #wanted: ReadonlySet<string>
  readonly #parse: (text: string) => unknown
  /** By the beginning of the object, including its first value if that is a string: `{"T":"q"`. */
  readonly #forms = new Map<string, Form>()
  #at = 0
  #begins = ''
  #form: Form | undefined

  /**
   * @param wanted names of the members to read; {@link read} may leave out others
   * @param parse the full parser, which reads numbers as text
   */
  constructor(wanted: readonly string[], parse: (text: string) => unknown) {
    this.#wanted = new Set(wanted)
    this.#parse = parse
  }

  /** The same result as the full parser's, except for members that are not wanted. @throws like it */
  read(text: string): unknown {
    const quick = this.#forms.size === 0 || text.length > CHARS_MAX || UNUSUAL.test(text) ? undefined : this.#quick(text)
    if (quick !== undefined) return quick
    const value = this.#parse(text)
    if (Array.isArray(value)) for (const item of value) this.#remember(item)
    else this.#remember(value)
    return value
  }

  /** Undefined where anything deviates from the known shape: the caller then falls back to the full parser. */
  #quick(text: string): unknown {
    this.#at = 0
    if (text.charCodeAt(0) !== OPEN) {
      const item = this.#item(text)
      return this.#at === text.length ? item : undefined
    }
    const items: Item[] = []
    for (let next = COMMA; next === COMMA; next = text.charCodeAt(this.#at)) {
      this.#at += 1
      const item = this.#item(text)
      if (item === undefined) return undefined
      items.push(item)
    }
    return text.charCodeAt(this.#at) === CLOSE && this.#at + 1 === text.length ? items : undefined
  }

  #item(text: string): Item | undefined {
    const form = this.#formAt(text, this.#at)
    if (form === undefined) return undefined
    const item: Item = {}
    let at = this.#at + 1
    for (let index = 0; index < form.length; index += 1) {
      const member = form[index]
      if (member === undefined || !text.startsWith(member.written, at)) return undefined
      at = this.#member(text, at + member.written.length, member.name, item)
      if (text.charCodeAt(at) !== (index === form.length - 1 ? END : COMMA)) return undefined
      at += 1
    }
    this.#at = at
    return item
  }

  /** Most messages have the shape of the one before. */
  #formAt(text: string, at: number): Form | undefined {
    if (this.#begins !== '' && text.startsWith(this.#begins, at)) return this.#form
    const begins = beginning(text, at)
    const form = this.#forms.get(begins)
    if (form === undefined) return undefined
    this.#begins = begins
    this.#form = form
    return form
  }

  /** Reads a value into its slot. Returns the offset after it; NaN if the value needs the full parser. */
  #member(text: string, from: number, name: string | null, item: Item): number {
    const code = text.charCodeAt(from)
    if (code === QUOTE) {
      const end = text.indexOf('"', from + 1)
      if (end === -1) return Number.NaN
      if (name !== null) item[name] = text.slice(from + 1, end)
      return end + 1
    }
    if (isNumberStart(code)) {
      const end = afterNumber(text, from)
      if (end === null) return Number.NaN
      if (name !== null) item[name] = text.slice(from, end)
      return end
    }
    if (code === OPEN) return texts(text, from, name, item)
    for (const { literal, value } of LITERALS)
      if (text.startsWith(literal, from)) {
        if (name !== null) item[name] = value
        return from + literal.length
      }
    return Number.NaN
  }

  #remember(item: unknown): void {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return
    const names = Object.keys(item)
    const [first] = names
    if (first === undefined || names.length > MEMBERS_MAX || !Object.values(item).every(isFlat)) return
    const { [first]: value }: Item = { ...item }
    const start = `{${JSON.stringify(first)}:`
    const begins = typeof value === 'string' ? beginning(`${start}${JSON.stringify(value)},`, 0) : start
    if (this.#forms.size >= FORMS_MAX && !this.#forms.has(begins)) return
    this.#forms.set(
      begins,
      names.map(name => ({ written: `${JSON.stringify(name)}:`, name: this.#wanted.has(name) ? name : null }))
    )
  }
}

function isFlat(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(text => typeof text === 'string')
  return typeof value !== 'object' || value === null
}

const LITERALS: readonly { readonly literal: string; readonly value: boolean | null }[] = [
  { literal: 'true', value: true },
  { literal: 'false', value: false },
  { literal: 'null', value: null }
]

/** Reads a list of strings, such as the conditions of a trade. Same contract as the reader of a single value. */
function texts(text: string, from: number, name: string | null, item: Item): number {
  const found: string[] = []
  let at = from + 1
  for (let next = text.charCodeAt(at) === CLOSE ? CLOSE : COMMA; next === COMMA; next = text.charCodeAt(at - 1)) {
    const end = text.charCodeAt(at) === QUOTE ? text.indexOf('"', at + 1) : -1
    if (end === -1) return Number.NaN
    if (name !== null) found.push(text.slice(at + 1, end))
    // After the character that follows the string, which shows whether there is another.
    at = end + 2
  }
  if (found.length === 0 && text.charCodeAt(from + 1) === CLOSE) at += 1
  if (text.charCodeAt(at - 1) !== CLOSE) return Number.NaN
  if (name !== null) item[name] = found
  return at
}

/** From the brace to the end of the first value if that is a string, else to the colon after its name; empty if there is no object. */
function beginning(text: string, from: number): string {
  if (text.charCodeAt(from) !== BEGIN || text.charCodeAt(from + 1) !== QUOTE) return ''
  const name = text.indexOf('"', from + 2)
  if (name === -1) return ''
  const end = text.charCodeAt(name + 2) === QUOTE ? text.indexOf('"', name + 3) + 1 : name + 2
  return text.slice(from, end)
}
