// Master keys in a file: private, never lost, and noticed by every process that shares it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { FileKeyRing, NOTICE_MS } from '../../src/vault/file-key-ring.ts'
import { openKeys } from '../../src/vault/index.ts'
import { KeyFileRefused, readKeyFile } from '../../src/vault/key-file.ts'
import { instanceKeyOf, parseKeySet } from '../../src/vault/master-keys.ts'
import { Bench, folder, key } from './rings.ts'

const CHILD = new URL('children/keys.ts', import.meta.url).pathname

test('the first start makes a private file with one random key', context => {
  const path = join(folder(context), 'deeper', 'master-keys')
  const made = FileKeyRing.openOrCreate(path, new Bench())
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
  assert.equal(made.current().key.length, 32)
  assert.deepEqual(FileKeyRing.openOrCreate(path, new Bench()).current(), made.current())
  assert.deepEqual(readdirSync(join(path, '..')).sort(), ['master-keys', 'master-keys.lock'])
})

test('a key file that others may read or write is refused, and the message says what to do [S65]', context => {
  const path = join(folder(context), 'master-keys')
  FileKeyRing.openOrCreate(path, new Bench())
  for (const mode of [0o604, 0o640, 0o644, 0o660, 0o602, 0o620, 0o610, 0o777]) {
    chmodSync(path, mode)
    assert.throws(
      () => FileKeyRing.openOrCreate(path, new Bench()),
      error => error instanceof KeyFileRefused && error.message.includes(`chmod 600 ${path}`)
    )
  }
  for (const mode of [0o600, 0o400]) {
    chmodSync(path, mode)
    assert.equal(FileKeyRing.openOrCreate(path, new Bench()).ids().length, 1)
  }
})

test('a file that holds something else is refused without a word of what it holds', context => {
  const path = join(folder(context), 'master-keys')
  const encoded = Buffer.from(key('x').key).toString('base64')
  const bad = [
    '',
    'canary-text',
    `k1:${encoded.slice(0, 40)}`,
    `k1:${encoded}${encoded}`,
    `k1:${encoded}\nk1:${encoded}`,
    `instance:${encoded}`,
    `k1:${Buffer.alloc(32).toString('base64')}`,
    `k 1:${encoded}`,
    `${'k'.repeat(33)}:${encoded}`,
    'a'.repeat(70_000),
    Array.from({ length: 65 }, (_, n) => `k${n}:${encoded}`).join('\n')
  ]
  for (const text of bad) {
    writeFileSync(path, text, { mode: 0o600 })
    assert.throws(
      () => new FileKeyRing(path, new Bench()),
      error => error instanceof KeyFileRefused && !error.message.includes('canary') && !error.message.includes(encoded.slice(0, 20)),
      text.slice(0, 60)
    )
  }
})

test('keys are read in every usual spelling', () => {
  const [a, b] = [key('a'), key('B-2_x')]
  const text = `a:${Buffer.from(a.key).toString('base64url')} , B-2_x:${Buffer.from(b.key).toString('base64')}\r\n`
  assert.deepEqual(
    parseKeySet(text).keys.map(({ id, key: bytes }) => ({ id, key: new Uint8Array(bytes) })),
    [a, b].map(({ id, key: bytes }) => ({ id, key: new Uint8Array(bytes) }))
  )
})

test('a missing file is not made by those who only want to read it', context => {
  const dataDir = folder(context)
  assert.throws(() => openKeys({ masterKeys: null, dataDir, create: false }, new Bench()), /is not there/)
  assert.deepEqual(readdirSync(dataDir), [])
})

test('a fresh key is current at once here, within a second elsewhere, and found at once when a seal names it', context => {
  const path = join(folder(context), 'master-keys')
  const [here, there] = [new Bench(), new Bench()]
  const ours = FileKeyRing.openOrCreate(path, here)
  const theirs = FileKeyRing.openOrCreate(path, there)
  const before = ours.current()
  const { id } = ours.addKey()
  assert.equal(ours.current().id, id)
  assert.equal(theirs.current().id, before.id)
  there.ms += NOTICE_MS
  assert.equal(theirs.current().id, id)
  assert.deepEqual(theirs.find(before.id)?.id, before.id)

  const next = ours.addKey()
  assert.equal(theirs.find(next.id)?.id, next.id)
  assert.equal(theirs.current().id, next.id)
  assert.equal(theirs.find('nobody'), undefined)
})

test('dropping the old keys keeps the current one, and only if it is the one that was meant', context => {
  const path = join(folder(context), 'master-keys')
  const ring = FileKeyRing.openOrCreate(path, new Bench())
  const first = ring.current().id
  const second = ring.addKey().id
  assert.throws(() => ring.dropOthers(first), KeyFileRefused)
  assert.deepEqual(ring.ids(), [second, first])
  assert.deepEqual(ring.dropOthers(second), [first])
  assert.deepEqual(new FileKeyRing(path, new Bench()).ids(), [second])
  assert.equal(ring.find(first), undefined)
})

test('the instance key outlives every master key', context => {
  const path = join(folder(context), 'master-keys')
  const old = key('old')
  // A file from before it had an instance line.
  writeFileSync(path, `old:${Buffer.from(old.key).toString('base64')}\n`, { mode: 0o600 })
  const ring = new FileKeyRing(path, new Bench())
  const instance = Buffer.from(ring.instanceKey()).toString('hex')
  assert.equal(instance, Buffer.from(instanceKeyOf({ keys: [old], instance: null })).toString('hex'))
  ring.addKey()
  ring.dropOthers(ring.addKey().id)
  assert.equal(Buffer.from(new FileKeyRing(path, new Bench()).instanceKey()).toString('hex'), instance)
})

test('a file that becomes unusable leaves the known keys in force, and is logged once', context => {
  const path = join(folder(context), 'master-keys')
  const bench = new Bench()
  const ring = FileKeyRing.openOrCreate(path, bench)
  const { id } = ring.current()
  const lookAgain = () => {
    bench.ms += NOTICE_MS
    return ring.current().id
  }
  chmodSync(path, 0o644)
  assert.equal(lookAgain(), id)
  assert.equal(lookAgain(), id)
  assert.equal(bench.warnings.length, 1)
  const text = readFileSync(path, 'utf8')
  rmSync(path)
  assert.equal(lookAgain(), id)
  assert.equal(bench.warnings.length, 2)
  assert.throws(() => ring.addKey())
  assert.equal(existsSync(path), false)
  const fresh = key('fresh')
  writeFileSync(path, `fresh:${Buffer.from(fresh.key).toString('base64')}\n${text}`, { mode: 0o600 })
  assert.equal(lookAgain(), 'fresh')
  assert.equal(bench.warnings.length, 2)
})

test('while one process changes the file, another one has to wait', context => {
  const path = join(folder(context), 'master-keys')
  const ring = FileKeyRing.openOrCreate(path, new Bench())
  const other = new DatabaseSync(`${path}.lock`)
  other.exec('BEGIN EXCLUSIVE')
  assert.throws(() => ring.addKey(), /another process is changing/)
  assert.equal(ring.ids().length, 1)
  other.close()
  ring.addKey()
  assert.equal(ring.ids().length, 2)
})

test('a draft that a dead process left is not taken over', context => {
  const path = join(folder(context), 'master-keys')
  const ring = FileKeyRing.openOrCreate(path, new Bench())
  writeFileSync(`${path}.new`, 'half a ke', { mode: 0o644 })
  ring.addKey()
  assert.equal(readKeyFile(path).keys.length, 2)
  assert.equal(existsSync(`${path}.new`), false)
})

test('processes that start at once make one file, and none of their keys is lost', async context => {
  const path = join(folder(context), 'master-keys')
  const outputs = await Promise.all(Array.from({ length: 4 }, () => run(path, 5)))
  const found = readKeyFile(path).keys.map(({ id }) => id)
  const lines = outputs.map(output => output.split(' '))
  assert.equal(new Set(lines.map(([first]) => first)).size, 1, 'one first key')
  const added = lines.flatMap(([, ...rest]) => rest)
  assert.equal(added.length, 20)
  assert.deepEqual([...found].sort(), [...added, lines[0]?.[0] ?? ''].sort())
})

async function run(path: string, count: number): Promise<string> {
  const child = spawn(process.execPath, [CHILD, path, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', chunk => {
    output += chunk
  })
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('close', resolve)
  assert.equal(await promise, 0)
  return output.trim()
}
