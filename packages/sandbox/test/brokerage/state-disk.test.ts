// The state while its disk fails: everything acknowledged is there at the next start.
import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FileNotDurable, FileNotWritten, type HostFiles, writeDurably } from '@trunkline/files/durable'
import { BrokerageState } from '../../src/brokerage/state.ts'

/** A disk that fails at one operation, a given number of times. */
class FailingDisk implements HostFiles {
  readonly #folders = new Set<number>()
  #fails: { readonly at: 'folder sync' | 'write'; times: number } = { at: 'write', times: 0 }

  fail(at: 'folder sync' | 'write', times: number): void {
    this.#fails = { at, times }
  }

  open(path: string, flags: 'r' | 'wx', mode?: number): number {
    const fd = openSync(path, flags, mode)
    if (flags === 'r') this.#folders.add(fd)
    else this.#folders.delete(fd)
    return fd
  }

  write(fd: number, text: string): void {
    this.#strike('write', 'ENOSPC')
    writeFileSync(fd, text)
  }

  sync(fd: number): void {
    if (this.#folders.has(fd)) this.#strike('folder sync', 'EIO')
  }

  close = closeSync
  rename = renameSync
  link = () => assert.fail('nothing is linked')
  remove = (path: string) => rmSync(path, { force: true })

  #strike(at: 'folder sync' | 'write', code: string): void {
    if (this.#fails.at !== at || this.#fails.times === 0) return
    this.#fails.times--
    throw Object.assign(new Error(`${code}: it failed`), { code })
  }
}

interface Scene {
  readonly folder: string
  readonly disk: FailingDisk
  readonly errors: unknown[]
  readonly open: () => BrokerageState
}

function scene(t: TestContext): Scene {
  const folder = mkdtempSync(join(tmpdir(), 'books-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [disk, errors] = [new FailingDisk(), [] as unknown[]]
  let seeds = 0
  const open = () =>
    new BrokerageState({
      folder,
      newSeed: () => `seed ${++seeds}`,
      onEvents: () => undefined,
      onError: error => errors.push(error),
      write: (path, text) => writeDurably(path, text, { files: disk })
    })
  return { folder, disk, errors, open }
}

const journals = (folder: string) => readdirSync(folder).filter(name => name.endsWith('.jsonl'))
const generation = (folder: string): number => JSON.parse(readFileSync(join(folder, 'books.json'), 'utf8')).generation

/** Adds entries that the state acknowledges. @returns their names */
function enter(state: BrokerageState, name: string): readonly string[] {
  const names = [1, 2, 3].map(nth => `${name} ${nth}`)
  for (const order of names) state.refuseLater(order, 'code', 'message')
  return names
}

function mustKnow(state: BrokerageState, orders: readonly string[]): void {
  for (const order of orders) assert.ok(state.overlay(order), `${order} is known`)
}

test('entries after a snapshot whose folder could not be synced are there at the next start', t => {
  const { folder, disk, errors, open } = scene(t)
  const state = open()
  disk.fail('folder sync', 1)
  state.reset()
  assert.ok(errors[0] instanceof FileNotDurable)
  const after = enter(state, 'after')
  mustKnow(open(), after)
  assert.equal(journals(folder).length, 1, 'the next snapshot tidies up')
})

test('until a snapshot is durable its predecessor keeps its journal, because a power cut may restore it', t => {
  const { folder, disk, open } = scene(t)
  const state = open()
  const before = enter(state, 'before')
  const old = readFileSync(join(folder, 'books.json'), 'utf8')
  disk.fail('folder sync', 1)
  state.close()
  assert.notEqual(readFileSync(join(folder, 'books.json'), 'utf8'), old)
  writeFileSync(join(folder, 'books.json'), old)
  mustKnow(open(), before)
})

test('a reset that cannot be written leaves the state unchanged, and its journal continues', t => {
  const { folder, disk, open } = scene(t)
  const state = open()
  const before = enter(state, 'before')
  const [engine, was] = [state.engine.snapshot(), generation(folder)]
  disk.fail('write', 1)
  assert.throws(() => state.reset(), FileNotWritten)
  assert.equal(state.engine.snapshot(), engine)
  assert.equal(generation(folder), was)
  assert.deepEqual(journals(folder), [`books.${was}.jsonl`])
  const after = enter(state, 'after')
  mustKnow(state, before)
  const again = open()
  mustKnow(again, [...before, ...after])
  assert.equal(again.engine.snapshot(), engine)
})

for (const at of ['folder sync', 'write'] as const)
  test(`a snapshot that fails for its ${at} fails no request, and is tried again`, t => {
    const { folder, disk, errors, open } = scene(t)
    const state = open()
    const was = generation(folder)
    const long = 'x'.repeat(12 * 1024 * 1024)
    disk.fail(at, 1)
    for (const order of ['a', 'b', 'c']) state.refuseLater(order, 'code', long)
    assert.equal(errors.length, 1)
    const reached = generation(folder)
    assert.equal(reached, at === 'write' ? was : was + 1)
    state.refuseLater('d', 'code', long)
    assert.equal(generation(folder), reached + 1, 'written now')
    assert.deepEqual(journals(folder), [`books.${reached + 1}.jsonl`])
    mustKnow(open(), ['a', 'b', 'c', 'd'])
  })
