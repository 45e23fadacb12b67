// S64: what lies on the disk holds no secret in the clear.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { StoredCredentials } from '@trunkline/core/app/broker-access/credentials'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { soon } from '@trunkline/testkit/patience'
import { openStore } from '../../src/store/index.ts'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { copyStore } from '../store/template.ts'
import { adminOver, clock, connect, createUsers, directory, ENDPOINT, entry, ids, keysIn, quiet, run } from './support.ts'

test('broker tokens, platform secrets and master keys are nowhere in the database’s files [S64]', async context => {
  const dataDir = directory(context)
  const database = join(dataDir, 'database')
  await copyStore(database)
  const keys = keysIn(dataDir)
  const vault = new EnvelopeVault(keys.ring)
  const secrets = ['canary-first-token', 'canary-renewed-token', 'canary-removed-token']
  {
    await using store = await openStore({ kind: 'embedded', dataDir: database }, { clock, ids, log: quiet })
    const [user] = await createUsers(store, 1)
    assert.ok(user !== undefined)
    const connection = await connect(store, vault, user, 'canary-first-token')
    const signal = soon()
    const holder = new StoredCredentials({ store, vault, clock, ids, ownership: soleOwnership }, connection, ENDPOINT)
    await holder.renew(await holder.read(signal), async () => ({ refreshToken: 'canary-renewed-token' }), signal)
    const removed = await connect(store, vault, user, 'canary-removed-token')
    await store.connections.remove(removed.connectionId, clock.now(), entry('connection.delete'))
    const admin = adminOver(store, keys)
    const { clientSecret, clientId } = await admin.perform(
      'platform.create',
      { name: 'Visible platform name', redirects: [], claims: false },
      run()
    )
    secrets.push(
      clientSecret,
      (await admin.perform('platform.rotate_secret', { platform: clientId, overlapSeconds: 0 }, run())).clientSecret
    )
    await admin.perform('keys.rotate', { mode: 'add', retire: 'no' }, run())
  }
  const keyTexts = readFileSync(join(dataDir, 'master-keys'), 'utf8')
    .split('\n')
    .flatMap(line => line.split(':')[1] ?? [])
  assert.equal(keyTexts.length, 3)
  const bytes = Buffer.concat(filesBelow(database).map(file => readFileSync(file)))
  // The search finds what is there: a name is stored as it is.
  assert.ok(bytes.includes('Visible platform name'))
  for (const secret of secrets) assert.ok(!bytes.includes(secret), secret.slice(0, 12))
  for (const text of keyTexts) assert.ok(!bytes.includes(text) && !bytes.includes(Buffer.from(text, 'base64')))
})

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(found => found.isFile())
    .map(found => join(found.parentPath, found.name))
}
