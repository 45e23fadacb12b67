// The repository as its tests see it: its files, and their texts read once.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { filesBelow } from '../../scripts/testing/files.ts'

export const ROOT = resolve(import.meta.dirname, '..', '..')

/** Every file of the checkout that is ours, relative to it. */
export const FILES: readonly string[] = filesBelow(ROOT)

const BINARY = /\.(png|jpe?g|gif|ico|webp|woff2?|zip|gz|pdf|db|wasm)$/
/** Built, libraries included: their words and sizes are not ours. */
const BUNDLED = /^packages\/console\/dist\//
const texts = new Map<string, string>()

/** The text of a file of FILES. */
export function textOf(file: string): string {
  const known = texts.get(file)
  if (known !== undefined) return known
  const text = readFileSync(join(ROOT, file), 'utf8')
  texts.set(file, text)
  return text
}

export function filesLike(pattern: RegExp): readonly string[] {
  return FILES.filter(file => pattern.test(file) && !BINARY.test(file) && !BUNDLED.test(file))
}

/** TypeScript that ships. */
export const SOURCES = filesLike(/^packages\/[^/]+\/src\/.*\.tsx?$/)

export function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
