// The demo platform's secret has one keeper, a file: no rotation may leave it nowhere.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DemoFile, demoPlatform } from '../../src/ops/demo-platform.ts'
import { adminOver, clock, directory, embedded, hasher, ids, keysIn, run } from './support.ts'

test('a new secret of the demo platform is written to its file', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const demoFile = join(dataDir, 'demo-platform.json')
  const admin = adminOver(store, keysIn(dataDir), { demoFile })
  const [demo, other] = [
    await admin.perform('platform.create', { name: 'Demo', redirects: [], claims: false }, run()),
    await admin.perform('platform.create', { name: 'Other', redirects: [], claims: false }, run())
  ]
  writeFileSync(demoFile, JSON.stringify({ client_id: demo.clientId, client_secret: demo.clientSecret, base_url: 'http://x' }))
  await admin.perform('platform.rotate_secret', { platform: other.platformId, overlapSeconds: 0 }, run())
  assert.equal(JSON.parse(readFileSync(demoFile, 'utf8')).client_secret, demo.clientSecret)
  const { clientSecret } = await admin.perform('platform.rotate_secret', { platform: demo.clientId, overlapSeconds: 0 }, run())
  assert.deepEqual(JSON.parse(readFileSync(demoFile, 'utf8')), {
    client_id: demo.clientId,
    client_secret: clientSecret,
    base_url: 'http://x'
  })
  assert.equal((await store.platforms.findByClientId(demo.clientId))?.secretHash, hasher.hash(clientSecret))
})

for (const [what, text] of [
  ['cut off', '{"client_id":'],
  ['no credentials', '[]']
] as const) {
  test(`a rotation succeeds although the demo file is ${what}, and the file stays unchanged`, async context => {
    const dataDir = directory(context)
    const store = await embedded(context, dataDir)
    const demoFile = join(dataDir, 'demo-platform.json')
    writeFileSync(demoFile, text)
    const admin = adminOver(store, keysIn(dataDir), { demoFile })
    const { platformId, clientId } = await admin.perform('platform.create', { name: 'Other', redirects: [], claims: false }, run())
    const { clientSecret } = await admin.perform('platform.rotate_secret', { platform: platformId, overlapSeconds: 0 }, run())
    assert.equal((await store.platforms.findByClientId(clientId))?.secretHash, hasher.hash(clientSecret))
    assert.equal(readFileSync(demoFile, 'utf8'), text)
  })
}

test('wherever a rotation of the demo platform is interrupted, the file has the valid secret, and the next start shows it', async context => {
  const dataDir = directory(context)
  const store = await embedded(context, dataDir)
  const file = new DemoFile(join(dataDir, 'demo-platform.json'))
  const addresses = { base_url: 'x', stream_url: 'x', market_data_stream_url: 'x', portal_url: 'x', home_url: 'x' }
  const warnings: unknown[] = []
  const nothing = () => undefined
  const log = { debug: nothing, info: nothing, error: nothing, warn: (_message: string, fields: unknown) => void warnings.push(fields) }
  const start = async () =>
    (await demoPlatform({ store, ids, hasher, clock, log }, file, { ...addresses, sandbox_control_url: null, sandbox_logins: [] }))?.demo
  const first = await start()
  assert.ok(first !== undefined)
  const inForce = async () => (await store.platforms.findByClientId(first.client_id))?.secretHash
  const rotate = (replaceSecret: typeof store.platformKeys.replaceSecret) => {
    const { platforms } = store
    const partly = Object({ platforms, platformKeys: { replaceSecret } })
    const admin = adminOver(store, keysIn(dataDir), { store: partly, demoFile: file.path })
    return admin.perform('platform.rotate_secret', { platform: first.client_id, overlapSeconds: 0 }, run())
  }
  const lost = new Error('the database went away')
  for (const isCommitted of [false, true]) {
    const before = file.read()?.client_secret
    await assert.rejects(
      rotate(async (...given) => {
        if (isCommitted) await store.platformKeys.replaceSecret(...given)
        throw lost
      }),
      lost
    )
    const demo = await start()
    assert.equal(await inForce(), hasher.hash(demo?.client_secret ?? ''))
    assert.equal(demo?.client_secret !== before, isCommitted)
    assert.equal(readFileSync(file.path, 'utf8').includes('next_client_secret'), false)
  }
  // One was done without being seen, and the next, asked for at once, was not.
  const unknown = async (...given: Parameters<typeof store.platformKeys.replaceSecret>) => {
    await store.platformKeys.replaceSecret(...given)
    throw lost
  }
  await assert.rejects(rotate(unknown), lost)
  await assert.rejects(
    rotate(() => Promise.reject(lost)),
    lost
  )
  assert.equal(await inForce(), hasher.hash((await start())?.client_secret ?? ''))
  const { clientSecret } = await rotate((...given) => store.platformKeys.replaceSecret(...given))
  assert.equal(file.read()?.client_secret, clientSecret)
  // A file that was cut off is named, and not replaced: it may be restored.
  assert.deepEqual(warnings, [])
  writeFileSync(file.path, '{')
  assert.equal(await start(), undefined)
  assert.deepEqual([warnings, readFileSync(file.path, 'utf8')], [[{ file: file.path }], '{'])
})
