// The files of a cluster: the settings of a node for a shell, and a folder that belongs to another installation.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertNoSingleProcess } from '../../cluster/files.ts'
import { quoted, writeSettings } from '../../cluster/settings-file.ts'

test('a shell that reads the file has the settings of the node, and others cannot read it', t => {
  const folder = mkdtempSync(join(tmpdir(), "it's cluster-settings-"))
  t.after(() => rmSync(folder, { recursive: true }))
  const values = { TRUNKLINE_DATABASE_URL: 'postgresql://a:b@h:1/d?x=1&y', TRUNKLINE_NAME: `it's "$HOME" \`id\`\n;`, TRUNKLINE_EMPTY: '' }
  const file = writeSettings(folder, { ...values, TRUNKLINE_UNSET: undefined, PATH: '/nowhere' })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  for (const [name, value] of Object.entries(values)) {
    const script = `. ${quoted(file)}; printf '%s|' "$${name}" "\${TRUNKLINE_UNSET-unset}" "$PATH"`
    assert.equal(execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', env: { PATH: '/bin' } }), `${value}|unset|/bin|`)
  }
})

test('a cluster does not take over the data directory of a single process', t => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-folder-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assertNoSingleProcess(folder)
  mkdirSync(join(folder, 'database'))
  assert.throws(() => assertNoSingleProcess(folder), /has the embedded database of a single process/)
})
