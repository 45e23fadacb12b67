// A program: imports every package that this repository uses, and keeps where each of their modules was found. See testkit/resolutions.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join, resolve } from 'node:path'
import { askerOf, type Resolution, ROOT_URL, writeResolutions } from '@trunkline/testkit/resolutions/table'
import { filesBelow } from './files.ts'
import { importsIn } from './imports.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
/** Imports of ours begin with this here, so that what they ask is asked by the file they are in. */
const FROM = 'from:'
/** Node reads others by the end of their names, but only when it has found them itself. */
const PROGRAM_TEXT = /\.[cm]?js$/

const learned = new Map<string, Map<string, Resolution>>()

registerHooks({
  resolve(specifier, context, next) {
    const [asked = '', parentURL = context.parentURL] = specifier.startsWith(FROM)
      ? specifier.slice(FROM.length).split(' in ')
      : [specifier]
    const found = next(asked, { ...context, ...(parentURL === undefined ? {} : { parentURL }) })
    const asker = askerOf(parentURL ?? '', context.conditions.includes('require'))
    const isKept = asker !== null && found.url.startsWith(ROOT_URL) && PROGRAM_TEXT.test(found.url)
    if (isKept) keep(asker, asked, [found.url.slice(ROOT_URL.length), found.format ?? null])
    return found
  }
})

function keep(asker: string, specifier: string, resolution: Resolution): void {
  const known = learned.get(asker) ?? new Map<string, Resolution>()
  learned.set(asker, known.set(specifier, resolution))
}

/** Each package that a file of ours imports, once for each part of the checkout. */
function imported(): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const file of filesBelow(ROOT).filter(path => path.endsWith('.ts'))) {
    for (const { specifier, isValue } of importsIn(readFileSync(join(ROOT, file), 'utf8'))) {
      if (!isValue || /^(?:\.|node:|@trunkline\/)/.test(specifier)) continue
      const parent = new URL(file, ROOT_URL).href
      found.set(`${askerOf(parent, false)} ${specifier}`, `${FROM}${specifier} in ${parent}`)
    }
  }
  return found
}

for (const specifier of imported().values()) {
  // What is named in a text but not installed, or not for this platform, is found as ever: not at all.
  await import(specifier).catch(() => undefined)
}
writeResolutions(learned)
process.exit(0) // whatever a package has started
