// Operators' commands when no service runs: the command line opens the database itself.
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { directory } from '../admin/support.ts'
import { operatorCommands } from './commands.ts'
import { cli } from './terminal.ts'

operatorCommands(false)

test('the first platform can be created before the service has ever run', async context => {
  const dataDir = join(directory(context), 'new')
  const env = { TRUNKLINE_DATA_DIR: dataDir }
  assert.equal((await cli(env, 'platform', 'list')).code, 1)
  assert.throws(() => readdirSync(dataDir))
  const created = await cli(env, 'platform', 'create', '--claim', 'off', '--name', 'First')
  assert.equal(created.code, 0, created.err)
  assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  // Keys are the service's to make.
  assert.deepEqual(readdirSync(dataDir), ['database'])
  const keyless = await cli(env, 'keys', 'rotate')
  assert.equal(keyless.code, 1)
  assert.match(keyless.err, /the service makes it at its first start/)
})
