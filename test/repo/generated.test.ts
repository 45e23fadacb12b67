// Pages that are generated are never edited: they are what the generator writes now.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesBelow } from '../../scripts/testing/files.ts'
import { FILES, ROOT, textOf } from './repository.ts'

const GENERATED = FILES.filter(file => file === 'docs/settings.md' || /^docs\/brokers\/[^/]+\.md$/.test(file))

test('the generated pages are fresh', () => {
  assert.ok(existsSync(join(ROOT, 'packages/server/src/cli.ts')), 'the generator: packages/server/src/cli.ts')
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-docs-'))
  try {
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, 'packages/server/src/cli.ts'), 'docs', '--out', folder], {
      encoding: 'utf8',
      cwd: ROOT
    })
    assert.equal(status, 0, stderr)
    const fresh = Object.fromEntries(filesBelow(folder).map(file => [`docs/${file}`, readFileSync(join(folder, file), 'utf8')]))
    const present = Object.fromEntries(GENERATED.map(file => [file, textOf(file)]))
    assert.deepEqual(present, fresh, 'run: npm run cli -- docs')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
