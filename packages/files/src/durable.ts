/**
 * Writes files that survive a power cut: a draft beside the file, synced, moved into place, and the folder synced. No other module does
 * this.
 */
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The calls to the file system, in their order, for tests that cut the power. */
export interface HostFiles {
  open(path: string, flags: 'r' | 'wx', mode?: number): number
  write(fd: number, text: string): void
  sync(fd: number): void
  close(fd: number): void
  /** Replaces an existing file. */
  rename(from: string, to: string): void
  /** Fails if the file exists. @throws Error with the code EEXIST */
  link(from: string, to: string): void
  /** Ignores a missing file. */
  remove(path: string): void
}

const HOST: HostFiles = {
  open: (path, flags, mode) => openSync(path, flags, mode),
  write: (fd, text) => writeFileSync(fd, text),
  sync: fd => fsyncSync(fd),
  close: fd => closeSync(fd),
  rename: (from, to) => renameSync(from, to),
  link: (from, to) => linkSync(from, to),
  remove: path => rmSync(path, { force: true })
}

export interface DurableOptions {
  /** Permission bits; by default the owner's only. */
  readonly mode?: number
  /** Does not replace a file that appeared meanwhile. */
  readonly onlyNew?: boolean
  readonly files?: HostFiles
}

/** The file is written and complete, but may not survive a power cut, because its folder could not be synced. */
export class FileNotDurable extends Error {
  override readonly name = 'FileNotDurable'
}

/** The file or folder could not be written and is unchanged. The message names it and the reason. */
export class FileNotWritten extends Error {
  override readonly name = 'FileNotWritten'
}

/**
 * Writes a whole file. When it returns, the text survives a power cut; after a cut before that, the file is old or new, never empty or
 * partial. Only one writer per file at a time, because the draft's name is fixed.
 * @throws FileNotWritten, and FileNotDurable if the file is the new one already.
 */
export function writeDurably(path: string, text: string, { mode = 0o600, onlyNew = false, files = HOST }: DurableOptions = {}): void {
  const draft = `${path}.new`
  try {
    // Left by a process that ended here.
    files.remove(draft)
    const fd = files.open(draft, 'wx', mode)
    try {
      files.write(fd, text)
      files.sync(fd)
    } finally {
      files.close(fd)
    }
    if (onlyNew) files.link(draft, path)
    else files.rename(draft, path)
  } catch (cause) {
    attempt(() => files.remove(draft))
    throw new FileNotWritten(`${path} could not be written: ${reasonOf(cause)}`, { cause })
  }
  try {
    if (onlyNew) files.remove(draft)
    syncFolder(dirname(path), files)
  } catch (cause) {
    throw notDurable(`${path} was written`, 'its folder', cause)
  }
}

/** Creates a folder and its parents, for their owner only, if missing. @throws FileNotWritten, FileNotDurable */
export function makeFolder(path: string): void {
  const missing = missingFolders(path)
  try {
    // One by one: if a system reports a missing parent for a folder that cannot be created, a recursive mkdir never ends.
    for (const folder of missing) makeOne(folder)
  } catch (cause) {
    throw new FileNotWritten(`the folder ${path} could not be created: ${whyNoFolder(path, cause)}`, { cause })
  }
  try {
    for (const folder of missing.toReversed()) syncFolder(dirname(folder))
  } catch (cause) {
    throw notDurable(`the folder ${path} was created`, 'the folder above it', cause)
  }
}

/** Another process may make it at the same moment. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    if (!isFolder(folder)) throw cause
  }
}

/** The missing folders, the uppermost first. Anything else in their place counts as missing too: creating it shows the reason. */
function missingFolders(path: string): readonly string[] {
  const missing: string[] = []
  for (let folder = resolve(path); !isFolder(folder); folder = dirname(folder)) {
    missing.unshift(folder)
    if (folder === dirname(folder)) break
  }
  return missing
}

function isFolder(path: string): boolean {
  return attempt(() => statSync(path))?.isDirectory() === true
}

/**
 * Why a folder cannot be created, in a sentence; null if it exists or can be. A folder is created in the nearest existing one and removed
 * at once, because nothing else shows it on every system.
 */
export function whyNotMakeable(path: string): string | null {
  const [first] = missingFolders(path)
  if (first === undefined) return null
  try {
    // A broken link exists and blocks the path.
    if (attempt(() => lstatSync(first)) !== undefined) mkdirSync(first)
    rmdirSync(mkdtempSync(join(dirname(first), '.trunkline-')))
    return null
  } catch (cause) {
    return whyNoFolder(path, cause)
  }
}

function notDurable(what: string, folder: string, cause: unknown): FileNotDurable {
  const why = `${folder} could not be synced, because ${reasonOf(cause)}`
  return new FileNotDurable(`${what}, but may not survive a power cut: ${why}`, { cause })
}

/** From above, because some systems report every folder that cannot be created as missing. */
function whyNoFolder(path: string, cause: unknown): string {
  const [first = resolve(path)] = missingFolders(path)
  const found = attempt(() => lstatSync(first))
  if (found?.isSymbolicLink() === true) return `${first} is a symbolic link to ${readlinkSync(first)}, which does not exist.`
  if (found !== undefined) return `${first} is a file, not a folder.`
  const above = dirname(first)
  try {
    accessSync(above, constants.W_OK)
  } catch (closed) {
    return `nothing can be created in ${above}, because ${reasonOf(closed)}`
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : null
  // The parent exists, so something else is missing.
  return code === 'ENOENT' ? `the file system of ${above} does not allow creating folders.` : reasonOf(cause)
}

/** Syncs the names in a folder. Does nothing on Windows, where a folder cannot be opened. */
export function syncFolder(path: string, files: Pick<HostFiles, 'open' | 'sync' | 'close'> = HOST): void {
  if (process.platform === 'win32') return
  syncPath(path, files)
}

/** Syncs the contents of a file or folder. */
export function syncPath(path: string, files: Pick<HostFiles, 'open' | 'sync' | 'close'> = HOST): void {
  const fd = files.open(path, 'r')
  try {
    files.sync(fd)
  } finally {
    files.close(fd)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left on its disk. Free some space and start again.',
  EDQUOT: 'the quota of this user is used up. Free some space and start again.',
  EACCES: 'this user may not write there. Check who owns the folder.',
  EPERM: 'this user may not write there. Check who owns the folder.',
  EROFS: 'its file system is read-only.',
  ENOTDIR: 'a part of its path is a file, not a folder.',
  ENOENT: 'its folder does not exist.',
  EEXIST: 'something with that name already exists.',
  EISDIR: 'a folder with that name exists.'
}

/** Why writing failed, in plain language: the usual reasons by their code, else the system's message. */
export function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return REASONS[code] ?? (cause instanceof Error ? cause.message : String(cause))
}

/** The reason why writing failed may also prevent looking and cleaning up. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
