import { readFileSync } from 'node:fs'

/**
 * Messages of one kind as a broker sends them, each a different event: ids and figures must not repeat, so that no reader can cache them.
 */
export type Texts = readonly string[]

export interface KindTexts {
  readonly order: Texts
  readonly trade: Texts
  readonly quote: Texts
}

export const COUNT = 1_000

/** A fixture of a broker's adapter. */
export function fixtureOf(broker: string, name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../packages/brokers/src/${broker}/fixtures/${name}.json`, import.meta.url), 'utf8'))
}

/** This many messages, each made from the same one by `change`, which gets a fresh copy of the message and the number of the variation. */
export function variations(message: unknown, change: (copy: Loose, number: number) => void): Texts {
  return Array.from({ length: COUNT }, (_, number) => {
    const copy = structuredClone(message)
    change(copy, number)
    return JSON.stringify(copy)
  })
}

/** A loosely typed message, for changes to it. */
// biome-ignore lint/suspicious/noExplicitAny: a fixture's shape is its broker's, and a missing field fails the run
export type Loose = any

/** An amount with `places` places around `base`, different for each number. */
export function amount(base: number, number: number, decimals = 2): string {
  return (base + ((number * 37) % 1_000) / 10 ** decimals).toFixed(decimals)
}

/** A whole number of this many digits. */
export function digits(count: number, number: number): string {
  return String(number).padStart(count, '0')
}
