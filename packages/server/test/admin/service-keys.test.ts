import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { AdminRefused } from '../../src/admin/operations.ts'
import { assertServiceKeys } from '../../src/admin/service-keys.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { openKeys } from '../../src/vault/index.ts'
import { directory } from './support.ts'

const clock = { monotonicMs: () => 0 }
const log = { debug() {}, info() {}, warn() {}, error() {} }
const connections = { sealedUnderOtherKeys: async () => [] }

/** A database that nodes with other keys use. */
function ofOthers(dataDir: string) {
  const { ring } = openKeys({ masterKeys: null, dataDir, create: true }, { clock, log })
  const context = { table: 'key_checks', column: 'sealed', rowId: '1', ownerId: 'all nodes', revision: 1 }
  const sealed = new EnvelopeVault(ring).seal('theirs', context)
  return { connections, keyChecks: { read: async () => sealed, add: async () => undefined, replace: async () => undefined } }
}

test('a start that is refused for a missing master key leaves no new key file, and an older one as it was', async context => {
  const [theirs, here] = [directory(context), directory(context)]
  const stored = ofOthers(theirs)
  const open = () => openKeys({ masterKeys: null, dataDir: here, create: true }, { clock, log })
  const path = join(here, 'master-keys')
  const created = open()
  assert.ok(existsSync(path))
  await assert.rejects(assertServiceKeys(created, stored, { isNode: true, log }), AdminRefused)
  assert.equal(existsSync(path), false)

  const changed = open()
  changed.file?.addKey()
  await assert.rejects(assertServiceKeys(changed, stored, { isNode: true, log }), AdminRefused)
  assert.ok(existsSync(path), 'what has further keys may be in use')
  await assert.rejects(assertServiceKeys(open(), stored, { isNode: true, log }), AdminRefused)
  assert.ok(existsSync(path), 'it was there before')
})

test('a start that is not refused keeps the file that it created', async context => {
  const dataDir = directory(context)
  const keys = openKeys({ masterKeys: null, dataDir, create: true }, { clock, log })
  const keyChecks = { read: async () => null, add: async () => undefined, replace: async () => undefined }
  await assertServiceKeys(keys, { connections, keyChecks }, { isNode: false, log })
  assert.ok(existsSync(join(dataDir, 'master-keys')))
})
