/** Answers and messages of a broker, by name: the files beside its adapter. */

import { readdirSync, readFileSync } from 'node:fs'
import type { HttpReply } from '../../src/kit/http.ts'
import { UnknownValueCounter, type UnknownValueCounterOptions } from '../../src/kit/unknown-values.ts'
import { MemoryLog } from './log.ts'
import { MemoryMeter } from './meter.ts'

export type Json = ReturnType<typeof JSON.parse>

export class Fixtures {
  readonly #folder: URL
  readonly #read = new Set<string>()

  /** `broker`: the adapter's folder. */
  constructor(broker: string) {
    this.#folder = new URL(`../../src/${broker}/fixtures/`, import.meta.url)
  }

  get names(): readonly string[] {
    return readdirSync(this.#folder).map(file => file.replace(/\.json$/, ''))
  }

  /** Those of a part that no test of this process has read. */
  unread(isPart: (name: string) => boolean): readonly string[] {
    return this.names.filter(name => isPart(name) && !this.#read.has(name))
  }

  read(name: string): Json {
    return JSON.parse(this.#text(name))
  }

  /** The body as it was written: reading and writing it again would round its numbers. */
  bodyText(name: string): string {
    const text = this.#text(name)
    return text.slice(text.indexOf('"body":') + '"body":'.length, text.lastIndexOf('}')).trim()
  }

  /** As it would come over the wire. */
  reply(name: string): HttpReply {
    return { status: this.read(name).status, headers: {}, body: this.bodyText(name) }
  }

  #text(name: string): string {
    this.#read.add(name)
    return readFileSync(new URL(`${name}.json`, this.#folder), 'utf8')
  }
}

export function unknownValuesOf(broker: UnknownValueCounterOptions['broker']): {
  readonly unknownValues: UnknownValueCounter
  readonly log: MemoryLog
  readonly meter: MemoryMeter
} {
  const [log, meter] = [new MemoryLog(), new MemoryMeter()]
  return { unknownValues: new UnknownValueCounter({ broker, log, meter }), log, meter }
}
