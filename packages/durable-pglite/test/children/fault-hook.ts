/** Disks with faults. */
import type { HostFiles } from '../../src/durable-fs.ts'
import type { EngineModule } from '../../src/engine-module.ts'

export interface Fault {
  /** deaf: the engine's fsync reaches nothing; eio: the disk fails it from the n-th on; full: writes fail from the n-th on. */
  readonly kind: 'deaf' | 'eio' | 'full'
  readonly from: number
}

export function install(module: EngineModule, host: HostFiles, data: unknown): void {
  if (!isFault(data)) throw new Error('the fault hook needs a fault')
  const { stream_ops } = module.NODEFS
  let calls = 0
  if (data.kind === 'deaf') delete stream_ops.fsync
  if (data.kind === 'eio') {
    const { fsync } = host
    host.fsync = fd => {
      if (++calls >= data.from) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
      fsync(fd)
    }
  }
  if (data.kind === 'full') {
    const { write } = stream_ops
    if (write === undefined) throw new Error('NODEFS has changed')
    stream_ops.write = (...parameters) => {
      // What the engine's file system throws for a host's ENOSPC (51 in its own numbering).
      if (++calls >= data.from) throw new module.FS.ErrnoError(51)
      return write(...parameters)
    }
  }
}

function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'kind' in value && 'from' in value
}
