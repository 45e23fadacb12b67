/** The state of the brokerage: the engine, its journal, and the events for the streams. Every change goes through `run`. */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileNotDurable, writeDurably } from '@trunkline/files/durable'
import { Engine } from '../engine/engine.ts'
import type { Command, EngineEvent, Micros, OrderRef, OrderView } from '../engine/types.ts'
import { readJsonFile } from './folder.ts'
import { Journal } from './journal.ts'
import type { Overlay } from './wire.ts'

/** At this many characters of journal, a snapshot is taken and a new journal begun. */
const JOURNAL_CHARS_MAX = 32 * 1024 * 1024
/** A snapshot that failed is tried again after this many further characters. */
const RETRY_CHARS = 1024 * 1024
/** Market commands without effect on customers wait for a write that must happen, up to this many characters. */
const WAITING_CHARS_MAX = 256 * 1024
const WAITING_LINES_MAX = 10_000

type Entry = { readonly c: Command } | { readonly later: RefusedLater }

interface RefusedLater {
  readonly order: string
  readonly code: string
  readonly message: string
}

interface Snapshot {
  readonly generation: number
  readonly engine: string
  readonly refusedLater: readonly RefusedLater[]
}

export interface BrokerageStateDeps {
  /** null: in memory only. */
  readonly folder: string | null
  /** A text that is unique to this state, so that clients cannot confuse order ids of different states. */
  readonly newSeed: () => string
  /** Receives the events of every command, after the command was handed to the operating system. */
  readonly onEvents: (events: readonly EngineEvent[]) => void
  /** Receives failures of snapshots; the state continues, and nothing acknowledged is missing. */
  readonly onError: (error: unknown) => void
  /** Writes a whole file as `writeDurably` does; tests replace it. */
  readonly write?: (path: string, text: string) => void
}

export class BrokerageState {
  readonly #deps: BrokerageStateDeps
  #engine: Engine
  #journal: Journal<Entry> | null = null
  #generation = 0
  #charsToSnapshot = JOURNAL_CHARS_MAX
  #waiting: string[] = []
  #waitingChars = 0
  readonly #waitingQuotes = new Map<string, number>()
  readonly #refusedLater = new Map<string, RefusedLater>()
  readonly #busy = new Map<string, 'cancelling' | 'amending'>()

  constructor(deps: BrokerageStateDeps) {
    this.#deps = deps
    this.#engine = Engine.create({ seed: deps.newSeed() })
    if (deps.folder !== null) this.#load(deps.folder)
  }

  get engine(): Engine {
    return this.#engine
  }

  /** The latest time of any command. */
  get latest(): Micros {
    return this.#engine.now
  }

  /**
   * Carries out a command. When it returns, the operating system has the command (if it has an observable effect), and the events
   * have been published.
   * @throws the error of the write; the command then remains in effect, and is written with the next one.
   */
  run(command: Command): readonly EngineEvent[] {
    const events = this.#engine.handle(command)
    try {
      this.#record({ c: command }, events.length > 0)
    } finally {
      if (events.length > 0) this.#deps.onEvents(events)
    }
    return events
  }

  overlay(orderId: string): Overlay | undefined {
    const busy = this.#busy.get(orderId) ?? null
    const later = this.#refusedLater.get(orderId)
    const refusedLater = later === undefined ? null : { code: later.code, message: later.message }
    return busy === null && refusedLater === null ? undefined : { busy, refusedLater }
  }

  /** From now on the order counts as refused, with this reason, once the engine has ended it. */
  refuseLater(orderId: string, code: string, message: string): void {
    const later = { order: orderId, code, message }
    this.#refusedLater.set(orderId, later)
    this.#record({ later }, true)
  }

  /** Marks a pending cancel or amendment; null: none. Not stored: a restart drops it. */
  setBusy(orderId: string, busy: 'cancelling' | 'amending' | null): void {
    if (busy === null) this.#busy.delete(orderId)
    else this.#busy.set(orderId, busy)
  }

  /** An order of one of these accounts; `forgotten`: it existed, and only its client order id is remembered. */
  order(accounts: readonly string[], ref: OrderRef): OrderView | 'unknown' | 'forgotten' {
    let forgotten = false
    for (const account of accounts) {
      const found = this.#engine.order(account, ref)
      if (typeof found === 'object') return found
      forgotten ||= found === 'forgotten'
    }
    return forgotten ? 'forgotten' : 'unknown'
  }

  /** The current state of the same order. */
  again(order: OrderView): OrderView {
    const found = this.#engine.order(order.accountId, { orderId: order.orderId })
    return typeof found === 'object' ? found : order
  }

  /** Begins with a new state. @throws FileNotWritten; the state is then unchanged, because the journal continues from the old one. */
  reset(): void {
    const fresh = Engine.create({ seed: this.#deps.newSeed() })
    if (this.#deps.folder !== null) this.#snapshot(this.#deps.folder, fresh, [])
    this.#engine = fresh
    this.#refusedLater.clear()
    this.#busy.clear()
  }

  close(): void {
    try {
      if (this.#deps.folder !== null) this.#snapshot(this.#deps.folder)
    } finally {
      this.#journal?.close()
    }
  }

  #record(entry: Entry, now: boolean): void {
    if (this.#journal === null || this.#deps.folder === null) return
    this.#wait(entry, now)
    if (!now && this.#waitingChars < WAITING_CHARS_MAX) return
    this.#journal.appendText(this.#waiting.join(''))
    this.#charsToSnapshot -= this.#waitingChars
    this.#forgetWaiting()
    if (this.#charsToSnapshot < 0) this.#tidy(this.#deps.folder)
  }

  /** The journal has everything, so a failed snapshot does not fail a request. */
  #tidy(folder: string): void {
    try {
      this.#snapshot(folder)
    } catch (error) {
      this.#charsToSnapshot = RETRY_CHARS
      this.#deps.onError(error)
    }
  }

  /** A quote without effect is superseded by the next one of its symbol, unless another command of the symbol is between them. */
  #wait(entry: Entry, eventful: boolean): void {
    const line = `${JSON.stringify(entry)}\n`
    const command = 'c' in entry ? entry.c : undefined
    if (command?.type === 'quote' && !eventful) {
      const superseded = this.#waitingQuotes.get(command.symbol)
      if (superseded !== undefined) {
        this.#waitingChars -= this.#waiting[superseded]?.length ?? 0
        this.#waiting[superseded] = ''
      }
      this.#waitingQuotes.set(command.symbol, this.#waiting.length)
    } else if (command !== undefined && 'symbol' in command) this.#waitingQuotes.delete(command.symbol)
    else this.#waitingQuotes.clear()
    this.#waiting.push(line)
    this.#waitingChars += line.length
    if (this.#waiting.length > WAITING_LINES_MAX) this.#squeeze()
  }

  #squeeze(): void {
    this.#waiting = this.#waiting.filter(line => line !== '')
    this.#waitingQuotes.clear()
  }

  #forgetWaiting(): void {
    this.#waiting = []
    this.#waitingChars = 0
    this.#waitingQuotes.clear()
  }

  #load(folder: string): void {
    const path = join(folder, 'books.json')
    if (existsSync(path)) {
      const snapshot = readJsonFile<Snapshot>(path)
      this.#engine = Engine.restore(snapshot.engine)
      this.#generation = snapshot.generation
      for (const later of snapshot.refusedLater) this.#refusedLater.set(later.order, later)
    }
    this.#journal = new Journal<Entry>(journalPath(folder, this.#generation), entry => {
      if ('c' in entry) this.#engine.handle(entry.c)
      else this.#refusedLater.set(entry.later.order, entry.later)
    })
    this.#snapshot(folder)
  }

  /**
   * The snapshot names the journal that continues it, so a crash between the two steps leaves the old pair whole.
   * @throws FileNotWritten; the old pair then stays in use.
   */
  #snapshot(folder: string, engine = this.#engine, refusedLater: readonly RefusedLater[] = [...this.#refusedLater.values()]): void {
    const generation = this.#generation + 1
    const path = journalPath(folder, generation)
    rmSync(path, { force: true })
    const journal = new Journal<Entry>(path, () => undefined)
    const snapshot: Snapshot = { generation, engine: engine.snapshot(), refusedLater }
    let isDurable: boolean
    try {
      isDurable = this.#write(join(folder, 'books.json'), JSON.stringify(snapshot))
    } catch (cause) {
      journal.close()
      rmSync(path, { force: true })
      throw cause
    }
    this.#journal?.close()
    this.#journal = journal
    this.#generation = generation
    this.#charsToSnapshot = isDurable ? JOURNAL_CHARS_MAX : RETRY_CHARS
    this.#forgetWaiting()
    // A power cut may restore the old snapshot, which needs its journal.
    if (isDurable) removeOtherJournals(folder, generation)
  }

  /** @returns whether the file survives a power cut; it is written in any case. */
  #write(path: string, text: string): boolean {
    try {
      const { write = writeDurably } = this.#deps
      write(path, text)
      return true
    } catch (error) {
      if (!(error instanceof FileNotDurable)) throw error
      this.#deps.onError(error)
      return false
    }
  }
}

function journalPath(folder: string, generation: number): string {
  return join(folder, `books.${generation}.jsonl`)
}

function removeOtherJournals(folder: string, generation: number): void {
  for (const name of readdirSync(folder)) {
    const [, of] = /^books\.(\d+)\.jsonl$/.exec(name) ?? []
    if (of !== undefined && Number(of) !== generation) rmSync(join(folder, name), { force: true })
  }
}
