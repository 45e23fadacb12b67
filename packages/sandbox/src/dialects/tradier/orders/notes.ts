/** What Tradier keeps of an order beyond the sandbox's state: its tag, its own values of side and duration. */

import { Journal } from '../../frame/brokerage.ts'

export interface Note {
  readonly tag: string | null
  /** `null`: as in the state. */
  readonly side: string | null
  readonly duration: string | null
}

interface Entry extends Note {
  /** The order's client order id in the sandbox. */
  readonly of: string
}

const NONE: Note = { tag: null, side: null, duration: null }
/** Ids that the sandbox generates are no tags. */
const GENERATED = /^(?:sandbox|house)-/
const TAG = /^[A-Za-z0-9-]{1,255}$/
/** Orders remembered; beyond it the oldest are shown as the state has them. */
const NOTES_MAX = 200_000

export class Notes {
  readonly #notes = new Map<string, Note>()
  readonly #journal: Journal<Entry> | null

  /** `file` null: nothing survives the process. */
  constructor(file: string | null) {
    this.#journal = file === null ? null : new Journal<Entry>(file, entry => this.#keep(entry))
    this.#journal?.rewrite([...this.#notes].map(([of, note]) => ({ of, ...note })))
  }

  /** Written before the order itself: a note of an order that was never taken does no harm. */
  add(clientOrderId: string, note: Note): void {
    const entry = { of: clientOrderId, ...note }
    this.#journal?.append(entry)
    this.#keep(entry)
  }

  /** An order from elsewhere has its client order id for a tag, if that can be one. */
  of(clientOrderId: string): Note {
    const known = this.#notes.get(clientOrderId)
    if (known !== undefined) return known
    return TAG.test(clientOrderId) && !GENERATED.test(clientOrderId) ? { ...NONE, tag: clientOrderId } : NONE
  }

  clear(): void {
    this.#notes.clear()
    this.#journal?.rewrite([])
  }

  close(): void {
    this.#journal?.close()
  }

  #keep({ of, ...note }: Entry): void {
    this.#notes.set(of, note)
    if (this.#notes.size <= NOTES_MAX) return
    for (const oldest of this.#notes.keys()) {
      this.#notes.delete(oldest)
      break
    }
  }
}
