/**
 * A disk with a power cut: records every write since a file's last fsync, and at the chosen step undoes them and kills the process. For
 * each file all writes are undone, or a random half. Lost directory entries and renames are not modelled.
 */
import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { HostFiles } from '../../src/durable-fs.ts'
import type { EngineModule } from '../../src/engine-module.ts'
import { randomFrom } from './random.ts'

export interface PowerCut {
  readonly seed: number
  /** Writes and fsyncs until the cut; 0: never. */
  readonly cutAt: number
  /** A disk that reports a sync without syncing. */
  readonly lie: boolean
}

interface Change {
  readonly position: number
  readonly sizeBefore: number
  readonly before: Uint8Array
  /** null: the file was cut to `position`. */
  readonly after: Uint8Array | null
}

interface DirtyFile {
  /** A separate descriptor: it follows renames, and prevents reuse of the inode's number. */
  readonly fd: number
  readonly changes: Change[]
}

/** Emscripten's number, not the host's. */
const O_TRUNC = 512

export function install(module: EngineModule, host: HostFiles, data: unknown): void {
  if (!isPowerCut(data)) throw new Error('the power-cut hook needs a seed and a step')
  const disk = new ForgetfulDisk(data)
  const { stream_ops, node_ops } = module.NODEFS
  const { write, open, setattr } = stream_ops
  const setNodeAttributes = node_ops.setattr
  if (write === undefined || open === undefined || setattr === undefined || setNodeAttributes === undefined)
    throw new Error('NODEFS has changed')

  stream_ops.write = (stream, buffer, offset, length, position) => {
    disk.step()
    const bytes = bytesOf(buffer).subarray(Number(offset), Number(offset) + Number(length))
    disk.willWrite(stream.nfd, Number(position), bytes)
    return write(stream, buffer, offset, length, position)
  }
  stream_ops.open = (stream, ...rest) => {
    if ('flags' in stream && Number(stream.flags) & O_TRUNC && 'node' in stream) disk.willTruncatePath(pathOf(stream.node), 0)
    return open(stream, ...rest)
  }
  stream_ops.setattr = (stream, attributes) => {
    const size = sizeIn(attributes)
    if (size !== null) disk.willTruncate(stream.nfd, size)
    return setattr(stream, attributes)
  }
  node_ops.setattr = (node, attributes) => {
    const size = sizeIn(attributes)
    if (size !== null) disk.willTruncatePath(pathOf(node), size)
    return setNodeAttributes(node, attributes)
  }
  host.fsync = fd => {
    disk.step()
    if (!data.lie) disk.synced(fd)
  }
}

class ForgetfulDisk {
  readonly #cutAt: number
  readonly #random: () => number
  readonly #dirty = new Map<number, DirtyFile>()
  #steps = 0

  constructor({ seed, cutAt }: PowerCut) {
    this.#cutAt = cutAt
    this.#random = randomFrom(seed)
  }

  step(): void {
    this.#steps += 1
    if (this.#steps === this.#cutAt) this.#cut()
  }

  willWrite(fd: number, position: number, after: Uint8Array): void {
    const { fd: own, changes } = this.#fileOf(fd)
    const sizeBefore = fstatSync(own).size
    const before = new Uint8Array(Math.max(0, Math.min(after.byteLength, sizeBefore - position)))
    if (before.byteLength > 0) readSync(own, before, 0, before.byteLength, position)
    changes.push({ position, sizeBefore, before, after: new Uint8Array(after) })
  }

  willTruncate(fd: number, size: number): void {
    const { fd: own, changes } = this.#fileOf(fd)
    const sizeBefore = fstatSync(own).size
    const before = new Uint8Array(Math.max(0, sizeBefore - size))
    if (before.byteLength > 0) readSync(own, before, 0, before.byteLength, size)
    changes.push({ position: size, sizeBefore, before, after: null })
  }

  willTruncatePath(path: string, size: number): void {
    if (!existsSync(path)) return
    const fd = openSync(path, 'r+')
    this.willTruncate(fd, size)
    closeSync(fd)
  }

  synced(fd: number): void {
    const { ino } = fstatSync(fd)
    const file = this.#dirty.get(ino)
    if (file === undefined) return
    closeSync(file.fd)
    this.#dirty.delete(ino)
  }

  #fileOf(fd: number): DirtyFile {
    const { ino } = fstatSync(fd)
    const known = this.#dirty.get(ino)
    if (known !== undefined) return known
    const file: DirtyFile = { fd: openSync(`/proc/self/fd/${fd}`, 'r+'), changes: [] }
    this.#dirty.set(ino, file)
    return file
  }

  #cut(): void {
    for (const { fd, changes } of this.#dirty.values()) {
      const keepHalf = this.#random() < 0.5
      for (const { position, sizeBefore, before } of changes.toReversed()) {
        writeAll(fd, before, position)
        ftruncateSync(fd, sizeBefore)
      }
      for (const { position, after } of changes) {
        if (!keepHalf || this.#random() < 0.5) continue
        if (after === null) ftruncateSync(fd, position)
        else writeAll(fd, after, position)
      }
    }
    process.kill(process.pid, 'SIGKILL')
    for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
}

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  if (bytes.byteLength > 0) writeSync(fd, bytes, 0, bytes.byteLength, position)
}

function bytesOf(buffer: unknown): Uint8Array {
  if (ArrayBuffer.isView(buffer)) return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
  throw new Error('the engine must write from a view')
}

/** The host's path of a node of the engine's file system. */
function pathOf(node: unknown): string {
  const parts: string[] = []
  let at = node
  while (isNode(at)) {
    if (at.parent === at) return [at.mount.opts.root, ...parts.toReversed()].join('/')
    parts.push(at.name)
    at = at.parent
  }
  throw new Error('the engine gave a node without a place')
}

interface FileNode {
  readonly name: string
  readonly parent: unknown
  readonly mount: { readonly opts: { readonly root: string } }
}

function isNode(value: unknown): value is FileNode {
  return typeof value === 'object' && value !== null && 'name' in value && 'parent' in value && 'mount' in value
}

function sizeIn(attributes: unknown): number | null {
  return typeof attributes === 'object' && attributes !== null && 'size' in attributes && typeof attributes.size === 'number'
    ? attributes.size
    : null
}

function isPowerCut(value: unknown): value is PowerCut {
  return typeof value === 'object' && value !== null && 'seed' in value && 'cutAt' in value && 'lie' in value
}
