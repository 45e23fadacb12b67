// The secrets of an installation: made once by `make-secrets.mjs`, and read from files by the programs of the image.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { inspectEnvironment } from '@trunkline/server/config/settings'
import { parseKeySet } from '@trunkline/server/vault/master-keys'
import { yamlOf } from './deploy-files.ts'
import { ROOT, textOf } from './repository.ts'

const MAKE = join(ROOT, 'deploy', 'make-secrets.mjs')
const READ = join(ROOT, 'deploy', 'image', 'secret-files.mjs')

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-secrets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

function make(folder: string): ReadonlyMap<string, string> {
  const { status, stderr, stdout } = spawnSync(process.execPath, [MAKE, folder], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const made = new Map(readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8').trim()]))
  for (const value of made.values()) assert.ok(value === '' || !stdout.includes(value), 'no secret is printed')
  return made
}

/** What a program of the image has in its environment. */
function environmentAfter(env: Readonly<Record<string, string>>) {
  const print = "console.log(JSON.stringify(Object.entries(process.env).filter(([name]) => name.startsWith('TRUNKLINE_'))))"
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', READ, '--eval', print], { encoding: 'utf8', env })
  return { status, stderr, values: status === 0 ? Object.fromEntries(JSON.parse(stdout)) : {} }
}

test('every secret of compose.yaml and of the manifests is made, in a private folder', t => {
  const folder = join(folderFor(t), 'secrets')
  const made = make(folder)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  for (const [name, { file }] of Object.entries<{ readonly file: string }>(yamlOf('deploy/compose.yaml').secrets)) {
    assert.equal(file, `./secrets/${name}`)
    assert.ok(made.has(name), name)
  }
  for (const file of ['nodes', 'nats', 'migrate'])
    for (const [, name = ''] of textOf(`deploy/kubernetes/${file}.yaml`).matchAll(/\/run\/secrets\/\w+\/([\w.-]+)/g))
      assert.ok(made.has(name), name)
})

test('they are what the service and the other containers accept, and no two are alike', t => {
  const made = make(folderFor(t))
  const of = (name: string) => made.get(name) ?? ''
  const env = {
    TRUNKLINE_DATABASE_URL: of('database-url'),
    TRUNKLINE_DATABASE_OWNER_URL: of('database-owner-url'),
    TRUNKLINE_NATS_URL: of('nats-url'),
    TRUNKLINE_METRICS_TOKEN: of('metrics-token'),
    TRUNKLINE_MASTER_KEYS: of('master-keys')
  }
  assert.deepEqual(inspectEnvironment(env).faults, [])
  const { keys, instance } = parseKeySet(of('master-keys'))
  assert.deepEqual([keys.length, instance?.length], [1, 32])
  assert.equal(new URL(of('database-url')).password, of('service-password'))
  assert.equal(new URL(of('database-owner-url')).password, of('owner-password'))
  assert.equal(new URL(of('nats-url')).password, of('nats-password'))
  assert.ok(of('nats.conf').includes(`password: "${of('nats-password')}"`))
  const values = [...made.values()].filter(value => value !== '')
  assert.equal(new Set(values).size, values.length)
})

test('what exists is left as it is', t => {
  const folder = folderFor(t)
  const before = make(folder)
  assert.deepEqual(make(folder), before)
})

test('a setting is read from its file, without the name of the file or the line end', t => {
  const file = join(folderFor(t), 'secret')
  writeFileSync(file, 'a secret\n')
  const env = { TRUNKLINE_MASTER_KEYS_FILE: file, TRUNKLINE_METRICS_TOKEN_FILE: '', TRUNKLINE_LOG_FILE: '/tmp/log', TRUNKLINE_PORT: '1' }
  assert.deepEqual(environmentAfter(env).values, { TRUNKLINE_MASTER_KEYS: 'a secret', TRUNKLINE_LOG_FILE: '/tmp/log', TRUNKLINE_PORT: '1' })
})

test('a file that cannot be read, or a setting beside its file, stops the start and names all of them', t => {
  const file = join(folderFor(t), 'secret')
  writeFileSync(file, 'of-the-file')
  const { status, stderr } = environmentAfter({
    TRUNKLINE_DATABASE_URL_FILE: '/no/such/file',
    TRUNKLINE_MASTER_KEYS_FILE: file,
    TRUNKLINE_MASTER_KEYS: 'of-the-environment'
  })
  assert.equal(status, 2)
  assert.deepEqual(stderr.trim().split('\n'), [
    'TRUNKLINE_DATABASE_URL_FILE names /no/such/file, which cannot be read: ENOENT.',
    'TRUNKLINE_MASTER_KEYS and TRUNKLINE_MASTER_KEYS_FILE are both set; remove one.'
  ])
})
