// An independent linter of API descriptions.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Body } from './api.ts'

const ROOT = resolve(import.meta.dirname, '..', '..')
const run = promisify(execFile)

/** Asserts that it finds neither errors nor warnings in the OpenAPI document. */
export async function passesLinter(document: Body): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-reference-'))
  try {
    const file = join(folder, 'api.json')
    await writeFile(file, JSON.stringify(document))
    const cli = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js')
    const args = [cli, 'lint', file, '--config', join(ROOT, 'test/acceptance/redocly.yaml'), '--format', 'json']
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' }
    const { stdout } = await run(process.execPath, args, { env, cwd: folder, maxBuffer: 8_000_000 }).catch(error => error)
    const { totals, problems } = JSON.parse(stdout)
    assert.deepEqual([totals.errors, totals.warnings], [0, 0], JSON.stringify(problems, null, 1).slice(0, 4_000))
  } finally {
    await rm(folder, { recursive: true })
  }
}
