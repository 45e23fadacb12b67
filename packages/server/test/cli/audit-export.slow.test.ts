// The audit log as a file that proves itself.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { directory } from '../admin/support.ts'
import { cli } from './terminal.ts'

test('an exported chain is verified without the service, and every change of the file is named [S81]', async context => {
  const TRUNKLINE_DATA_DIR = directory(context)
  await using cluster = await sharedPostgres()
  await using database = await createDatabase(cluster.url)
  const env = { TRUNKLINE_DATA_DIR, TRUNKLINE_DATABASE_URL: database.url }
  for (const name of ['One', 'Two', 'Three', 'Four']) await cli(env, 'platform', 'create', '--name', name, '--claim', 'off')
  const { out, code } = await cli(env, 'audit', 'export')
  assert.equal(code, 0)
  const lines = out.trimEnd().split('\n')
  assert.equal(lines.length, 4)
  const file = join(TRUNKLINE_DATA_DIR, 'export.jsonl')
  const verdict = async (kept: readonly (string | undefined)[]) => {
    writeFileSync(file, kept.map(line => `${line}\n`).join(''))
    const { code, out, err } = await cli({}, 'audit', 'verify-export', file)
    return code === 0 ? out.split('.')[0] : err.trim()
  }
  assert.equal(await verdict(lines), '4 entries, all as they were written')
  assert.equal(await verdict(lines.slice(1, 3)), '2 entries, all as they were written')
  const [one, two, three, four] = lines
  assert.match(String(await verdict([one, three, four])), /at entry 2: the entry is missing/)
  assert.match(String(await verdict([one, two?.replace('Two', 'Too'), three])), /at entry 2: .*altered/)
  assert.match(String(await verdict([one?.replace('One', 'Oné')])), /at entry 1: .*altered/)
  assert.match(String(await verdict([one, 'x'])), /Line 2 is not an exported entry/)
  const { at }: { readonly at: string } = JSON.parse(JSON.parse(String(three)).entry)
  assert.deepEqual((await cli(env, 'audit', 'export', '--from', at)).out.trimEnd().split('\n'), [three, four])
  assert.deepEqual((await cli(env, 'audit', 'export', '--to', at)).out.trimEnd().split('\n'), [one, two, three])
  assert.equal((await cli(env, 'audit', 'export', '--from', '2999-01-01T00:00:00Z')).out, '')
})
