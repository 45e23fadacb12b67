// The console as it is served: small enough, nothing that its content security policy refuses, and the licences of what is in it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { FILES, ROOT, textOf } from './repository.ts'

const DIST = 'packages/console/dist/'
const LICENCES = `${DIST}licenses.md`
/** What a browser may load, all pages together. */
const SERVED = FILES.filter(file => file.startsWith(DIST) && file !== LICENCES)
const BYTES_MAX = 250_000

test('the console is at most 250 kB compressed, all pages together', () => {
  const sizes = SERVED.map(file => gzipSync(readFileSync(join(ROOT, file))).length)
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  assert.ok(sizes.length > 3 && bytes <= BYTES_MAX, `${bytes} bytes in ${sizes.length} files`)
})

test('its files are loaded by the page under names that change with them, from below /console/', () => {
  const page = textOf(`${DIST}index.html`)
  const loaded = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  assert.ok(loaded.some(address => address.endsWith('.js')) && loaded.some(address => address.endsWith('.css')))
  for (const address of loaded) {
    assert.match(address, /^\/console\/assets\/[\w.-]+-[0-9a-f]{8}\.(js|css|svg)$/)
    assert.ok(SERVED.includes(`${DIST}${address.slice('/console/'.length)}`), address)
  }
  const others = SERVED.filter(file => !/^packages\/console\/dist\/(index\.html|assets\/[\w.-]+-[0-9a-f]{8}\.(js|css|svg))$/.test(file))
  assert.deepEqual(others, [], 'served for ever by browsers: the name must change with the content')
})

test('the page has no script and no style in it, which the content security policy would refuse', () => {
  const page = textOf(`${DIST}index.html`)
  for (const [, attributes = '', content = ''] of page.matchAll(/<script\b([^>]*)>([^<]*)<\/script>/g)) {
    assert.match(attributes, / src="/)
    assert.equal(content.trim(), '')
  }
  assert.doesNotMatch(page, /<style\b|\sstyle="|\son\w+="|javascript:|data:/)
})

test('the licence of each library in it is beside it', () => {
  const licences = textOf(LICENCES)
  for (const name of [
    'react',
    'react-dom',
    'react-aria-components',
    '@tanstack/react-router',
    '@tanstack/react-query',
    'lightweight-charts'
  ])
    assert.match(licences, new RegExp(`^## ${name} - `, 'm'))
})
