import { readFileSync } from 'node:fs'

/** Messages of one kind as a broker sends them, each another event: nobody may know one from the other by its ids or figures. */
export type Texts = readonly string[]

export interface KindTexts {
  readonly order: Texts
  readonly trade: Texts
  readonly quote: Texts
}

export const COUNT = 1_000

/** A fixture as it is kept beside a broker's adapter. */
export function fixtureOf(broker: string, name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../packages/brokers/src/${broker}/fixtures/${name}.json`, import.meta.url), 'utf8'))
}

/** So many messages, each made of the same one by `change`, which gets a fresh copy of the message and the number of the variation. */
export function variations(message: unknown, change: (copy: Loose, number: number) => void): Texts {
  return Array.from({ length: COUNT }, (_, number) => {
    const copy = structuredClone(message)
    change(copy, number)
    return JSON.stringify(copy)
  })
}

/** A message as loosely typed as changing it takes. */
// biome-ignore lint/suspicious/noExplicitAny: a fixture's form is its broker's, and a missing field fails the run
export type Loose = any

/** An amount with `places` places around `base`, another one for each number. */
export function amount(base: number, number: number, decimals = 2): string {
  return (base + ((number * 37) % 1_000) / 10 ** decimals).toFixed(decimals)
}

/** A whole number of so many digits. */
export function digits(count: number, number: number): string {
  return String(number).padStart(count, '0')
}
