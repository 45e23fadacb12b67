// A bundled test file, and a program that it starts, are the sources in all but their place.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bundle } from '../testing/bundles.ts'
import { outputOf } from './program.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')

test('a bundle runs in place of its source, and finds what lies beside that', async () => {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache', 'bundled-'))
  try {
    const file = join(folder, 'where.test.ts')
    writeFileSync(join(folder, 'beside.txt'), 'beside')
    writeFileSync(
      file,
      `import { readFileSync } from 'node:fs'
      import { ZERO } from '@trunkline/core/domain/decimal'
      const isBundled = ZERO === '0' && new Error().stack.includes('.cache/bundles')
      const [url, own] = [readFileSync(new URL('beside.txt', import.meta.url), 'utf8'), import.meta.filename]
      console.log(JSON.stringify([isBundled, url, own, import.meta.dirname, process.argv[1]]))`
    )
    const preload = await bundle(ROOT, [file.slice(ROOT.length + 1)])
    const { code, stdout, stderr } = await outputOf(process.execPath, [`--import=${preload}`, file])
    assert.equal(code, 0, stderr)
    assert.deepEqual(JSON.parse(stdout), [true, 'beside', file, folder, file])
    assert.match(readFileSync(fileURLToPath(preload), 'utf8'), /packages\/server\/src\/main\.ts/)
    const help = await outputOf(process.execPath, [`--import=${preload}`, join(ROOT, 'packages/server/src/main.ts'), '--help'])
    assert.deepEqual([help.code, help.stderr], [0, ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
