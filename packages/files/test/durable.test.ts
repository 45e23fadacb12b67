// Power is cut after each thing that is asked of the file system: the file is then as it was, or new, and never in part.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FileNotDurable, FileNotWritten, type HostFiles, makeFolder, whyNotMakeable, writeDurably } from '../src/durable.ts'

class PowerCut extends Error {}

interface Inode {
  cached: string
  /** What is on the disk: nothing until it is synced. */
  synced: string
}

/**
 * A disk that keeps what was synced. A rename reaches it at once or when its folder is synced, because file systems differ; data only at
 * its sync.
 */
class Disk implements HostFiles {
  readonly calls: string[] = []
  readonly #cutAfter: number
  readonly #eager: boolean
  #names: Map<string, Inode>
  #onDisk: Map<string, Inode>
  readonly #open: (Inode | 'folder')[] = []

  constructor(before: Readonly<Record<string, string>>, cutAfter: number, eager: boolean) {
    this.#cutAfter = cutAfter
    this.#eager = eager
    this.#names = new Map(Object.entries(before).map(([path, text]) => [path, { cached: text, synced: text }]))
    this.#onDisk = new Map(this.#names)
  }

  /** What a start after the cut finds. */
  after(path: string): string | null {
    return this.#onDisk.get(path)?.synced ?? null
  }

  open(path: string, flags: 'r' | 'wx'): number {
    return this.#ask(`open ${path}`, () => {
      if (flags === 'r') return this.#open.push('folder') - 1
      assert.ok(!this.#names.has(path), 'nothing of another write is opened')
      const inode = { cached: '', synced: '' }
      this.#names.set(path, inode)
      return this.#open.push(inode) - 1
    })
  }

  write(fd: number, text: string): void {
    this.#ask('write', () => {
      const inode = this.#open[fd]
      assert.ok(typeof inode === 'object')
      inode.cached += text
    })
  }

  sync(fd: number): void {
    this.#ask('sync', () => {
      const inode = this.#open[fd]
      if (typeof inode === 'object') inode.synced = inode.cached
      else this.#onDisk = new Map(this.#names)
    })
  }

  close(): void {
    this.#ask('close', () => undefined)
  }

  rename(from: string, to: string): void {
    this.#ask(`rename ${from} ${to}`, () => this.#name(from, to, true))
  }

  link(from: string, to: string): void {
    this.#ask(`link ${from} ${to}`, () => this.#name(from, to, false))
  }

  remove(path: string): void {
    this.#ask(`remove ${path}`, () => this.#names.delete(path))
  }

  #name(from: string, to: string, moves: boolean): void {
    const inode = this.#names.get(from)
    assert.ok(inode !== undefined)
    this.#names.set(to, inode)
    if (moves) this.#names.delete(from)
    if (this.#eager) this.#onDisk = new Map(this.#names)
  }

  #ask<T>(what: string, done: () => T): T {
    if (this.calls.length >= this.#cutAfter) throw new PowerCut('the power is cut')
    this.calls.push(what)
    return done()
  }
}

for (const eager of [true, false]) {
  for (const onlyNew of [true, false]) {
    const before: Readonly<Record<string, string>> = onlyNew ? {} : { '/data/file': 'old' }
    test(`a cut at any moment leaves the old text or the new one (${eager ? 'names reach the disk at once' : 'names wait for their folder'}${onlyNew ? ', a new file' : ''})`, () => {
      const whole = new Disk(before, Number.POSITIVE_INFINITY, eager)
      writeDurably('/data/file', 'new', { files: whole, onlyNew })
      assert.equal(whole.after('/data/file'), 'new', 'once it returned, the text stays')
      for (let cut = 0; cut < whole.calls.length; cut++) {
        const disk = new Disk(before, cut, eager)
        // A failure before the new name exists changes nothing; a later one does.
        const isNamed = whole.calls.slice(0, cut).some(call => /^(?:rename|link)/.test(call))
        assert.throws(() => writeDurably('/data/file', 'new', { files: disk, onlyNew }), isNamed ? FileNotDurable : FileNotWritten)
        assert.ok(
          [onlyNew ? null : 'old', 'new'].includes(disk.after('/data/file')),
          `after ${disk.calls.join(', ')}: ${disk.after('/data/file')}`
        )
      }
    })
  }
}

test('on a real disk the file is replaced and private, and nothing is left beside it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-files-'))
  try {
    const path = join(folder, 'file')
    writeFileSync(`${path}.new`, 'left by a process that died')
    writeDurably(path, 'first')
    writeDurably(path, 'second')
    assert.equal(readFileSync(path, 'utf8'), 'second')
    assert.throws(
      () => writeDurably(path, 'third', { onlyNew: true }),
      /file could not be written: something with that name already exists/
    )
    assert.equal(readFileSync(path, 'utf8'), 'second')
    assert.deepEqual(readdirSync(folder), ['file'])
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.throws(() => writeDurably(join(path, 'below'), 'text'), /below could not be written: a part of its path is a file/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a full disk is reported with the name of the file, and the old text stays', () => {
  const disk = new Disk({ '/data/file': 'old' }, Number.POSITIVE_INFINITY, true)
  const full: HostFiles = {
    ...{ open: disk.open.bind(disk), sync: disk.sync.bind(disk), close: disk.close.bind(disk) },
    ...{ rename: disk.rename.bind(disk), link: disk.link.bind(disk), remove: disk.remove.bind(disk) },
    write() {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    }
  }
  assert.throws(
    () => writeDurably('/data/file', 'new', { files: full }),
    /^FileNotWritten: \/data\/file could not be written: there is no space left/
  )
  assert.equal(disk.after('/data/file'), 'old')
})

test('folders are created for their owner only; what blocks the path is named, and the check leaves nothing behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-folders-'))
  try {
    symlinkSync(join(folder, 'gone'), join(folder, 'link'))
    writeFileSync(join(folder, 'file'), '')
    const before = readdirSync(folder)
    for (const [path, why] of [
      [join(folder, 'link'), /link is a symbolic link to .*gone, which does not exist\.$/],
      [join(folder, 'link', 'below'), /link is a symbolic link/],
      [join(folder, 'file'), /file is a file, not a folder\.$/],
      [join(folder, 'file', 'a', 'b'), /file is a file, not a folder\.$/]
    ] as const) {
      assert.match(String(whyNotMakeable(path)), why)
      assert.throws(() => makeFolder(path), { name: 'FileNotWritten', message: why })
    }
    assert.equal(whyNotMakeable(join(folder, 'a', 'b')), null)
    assert.deepEqual(readdirSync(folder), before)
    makeFolder(join(folder, 'a', 'b'))
    makeFolder(join(folder, 'a', 'b'))
    assert.equal(statSync(join(folder, 'a', 'b')).mode & 0o777, 0o700)
    assert.equal(whyNotMakeable(join(folder, 'a', 'b')), null)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a file system that does not allow creating folders is reported at once', () => {
  // A recursive mkdir below /proc never ends. Elsewhere a device is in the way.
  const path = existsSync('/proc/self') ? '/proc/trunkline/data' : '/dev/null/data'
  const why = /does not allow creating folders\.$|may not write there|is a file, not a folder\.$/
  assert.match(String(whyNotMakeable(path)), why)
  assert.throws(() => makeFolder(path), { name: 'FileNotWritten', message: why })
})
