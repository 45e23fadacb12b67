// What the documents promise exists: the pages they link to, and the commands they name.
import assert from 'node:assert/strict'
import { existsSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { GROUPS } from '../../scripts/testing/files.ts'
import { anchorsIn, linksIn, longLinesIn } from './markdown.ts'
import { filesLike, lineOf, ROOT, textOf } from './repository.ts'

const DOCUMENTS = filesLike(/\.md$/)

test('no link is dead', () => {
  const dead: string[] = []
  for (const file of DOCUMENTS) {
    for (const { target, line } of linksIn(textOf(file))) {
      const complaint = complaintAbout(file, target)
      if (complaint !== undefined) dead.push(`${file}:${line} ${target} ${complaint}`)
    }
  }
  assert.deepEqual(dead, [])
})

function complaintAbout(file: string, target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined // elsewhere: not for an offline check
  const [path = '', anchor] = decodeURI(target).split('#')
  if (path.startsWith('/')) return 'is absolute: link relative to the file'
  const destination = path === '' ? file : normalize(join(dirname(file), path)).replaceAll('\\', '/')
  if (!existsSync(join(ROOT, destination))) return 'leads nowhere'
  if (anchor === undefined || anchor === '' || !destination.endsWith('.md') || statSync(join(ROOT, destination)).isDirectory())
    return undefined
  return anchorsIn(textOf(destination)).has(anchor) ? undefined : `has no heading for #${anchor}`
}

/** Generated, or kept as it was written. */
const FREE_LINES = /^(CHANGELOG\.md|docs\/(attacks|settings)\.md|docs\/brokers\/)/
const COLUMNS_MAX = 120

test(`prose has at most ${COLUMNS_MAX} columns: one sentence or clause a line`, () => {
  assert.deepEqual(
    DOCUMENTS.filter(file => !FREE_LINES.test(file)).flatMap(file => longLinesIn(textOf(file), COLUMNS_MAX).map(line => `${file}:${line}`)),
    []
  )
})

test('long lines are found in prose, and not in code or tables', () => {
  const long = 'word '.repeat(30)
  assert.deepEqual(longLinesIn(`${long}\n| ${long} |\n\`\`\`\n${long}\n\`\`\`\n  - ${long}\n`, 120), [1, 6])
})

test('every command that a document names exists', () => {
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(textOf('package.json'))
  const missing: string[] = []
  for (const file of DOCUMENTS) {
    const text = textOf(file)
    const complain = (index: number, what: string) => missing.push(`${file}:${lineOf(text, index)} ${what}`)
    for (const { 0: match, 1: name = '', index } of text.matchAll(/\bnpm run ([\w:-]+)/g)) {
      if (!(name in manifest.scripts)) complain(index, `"${match}": there is no such script in package.json`)
    }
    for (const { 1: name = '', index } of text.matchAll(/\bnpm (start|test)\b/g)) {
      if (!(name in manifest.scripts)) complain(index, `npm ${name}: there is no such script in package.json`)
    }
    for (const { 1: path = '', index } of text.matchAll(/\bnode (scripts\/[\w./-]+)/g)) {
      if (!existsSync(join(ROOT, path))) complain(index, `${path} does not exist`)
    }
    for (const { 1: group = '', index } of text.matchAll(/npm test -- --group (\w+)/g)) {
      if (!GROUPS.some(name => name === group)) complain(index, `there is no group of tests "${group}"`)
    }
  }
  assert.deepEqual(missing, [])
})

test('every script of package.json runs a file that exists', () => {
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(textOf('package.json'))
  const missing = Object.entries(manifest.scripts).flatMap(([name, command]) =>
    [...command.matchAll(/[\w./-]+\.(?:mjs|ts)\b/g)].filter(([path]) => !existsSync(join(ROOT, path))).map(([path]) => `${name}: ${path}`)
  )
  assert.deepEqual(missing, [])
})

test('links and headings are read as a reader sees them', () => {
  const text = [
    '# What it is',
    '## `npm start`, twice',
    '## What it is',
    '<a id="here"></a>',
    '```',
    '# not a heading [no](link)',
    '```',
    'see [a](x.md#b) and `[c](d)`',
    '[ref]: y.md'
  ].join('\n')
  assert.deepEqual([...anchorsIn(text)], ['what-it-is', 'npm-start-twice', 'what-it-is-1', 'here'])
  assert.deepEqual(linksIn(text), [
    { target: 'x.md#b', line: 8 },
    { target: 'y.md', line: 9 }
  ])
})
