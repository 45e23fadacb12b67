/**
 * PGlite's Node file system with the one thing it lacks: an fsync that reaches the disk.
 * Stock PGlite drops every fsync, so a power cut loses commits or the whole database; see the power-cut tests, which must be run on every
 * upgrade.
 */
import { fsyncSync, writeSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import type { EngineModule } from './engine-module.ts'
import { undoFailedOpens } from './failed-opens.ts'

/** The calls to the host that tests replace. */
export interface HostFiles {
  /** Makes a file's content durable. @throws when the disk does not confirm it */
  fsync(fd: number): void
}

/** Code that tests put between the engine and the disk, named by the module that exports `install`. */
export interface FileSystemHook {
  readonly module: string
  readonly data: unknown
}
export type InstallHook = (module: EngineModule, host: HostFiles, data: unknown) => void

export interface DurableFsOptions {
  readonly directory: string
  /** Counts fsyncs that succeeded; shared with other threads. */
  readonly fsyncs: BigInt64Array
  readonly hook: FileSystemHook | null
  /** Called when the engine stopped, with its reason. */
  readonly onAbort: (reason: string) => void
}

type EmscriptenOptions = Parameters<NodeFS['init']>[1]

export class DurableFs extends NodeFS {
  readonly #options: DurableFsOptions

  constructor(options: DurableFsOptions) {
    super(options.directory)
    this.#options = options
  }

  override async init(pglite: PGlite, options: EmscriptenOptions): Promise<{ emscriptenOpts: EmscriptenOptions }> {
    const { fsyncs, hook, onAbort } = this.#options
    const installHook = hook === null ? null : await loadHook(hook.module)
    const { emscriptenOpts } = await super.init(pglite, options)
    const install = (module: unknown): void => {
      assertEngineModule(module)
      const host: HostFiles = { fsync: fsyncSync }
      module.NODEFS.stream_ops.fsync = stream => {
        fsyncOrDie(host, stream.nfd)
        Atomics.add(fsyncs, 0, 1n)
        return 0
      }
      undoFailedOpens(module)
      module.onAbort = reason => onAbort(String(reason))
      guardMainLoop(module)
      installHook?.(module, host, hook?.data)
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), install] } }
  }
}

/**
 * An fsync that failed must not be tried again and must not return to the engine: the kernel may have dropped the data, and the next
 * fsync would report success. Only a new process, which replays the log, knows what is there.
 */
function fsyncOrDie(host: HostFiles, fd: number): void {
  try {
    host.fsync(fd)
  } catch (error) {
    die(`fsync failed (${error instanceof Error ? error.message : String(error)}); commits in flight are unknown`)
  }
}

/** Ends the process at once: one line on stderr, nothing else runs, nothing is answered. */
export function die(reason: string): never {
  try {
    writeSync(2, `trunkline: ${reason}. The process ends now; start it again to recover.\n`)
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

/** The engine's main loop swallows unknown errors and would spin for ever; such an error means that the engine is lost. */
function guardMainLoop(module: EngineModule): void {
  const step = module._PostgresMainLoopOnce
  module._PostgresMainLoopOnce = () => {
    try {
      step()
    } catch (error) {
      if (!isStatementError(error)) die(`the database engine failed (${error instanceof Error ? error.message : String(error)})`)
      throw error
    }
  }
}

/** PostgreSQL's own way out of a failed statement. */
function isStatementError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'status' in error && error.status === 100
}

async function loadHook(module: string): Promise<InstallHook> {
  const loaded: unknown = await import(module)
  if (typeof loaded === 'object' && loaded !== null && 'install' in loaded && isInstallHook(loaded.install)) return loaded.install
  throw new Error(`${module} must export install`)
}

function isInstallHook(value: unknown): value is InstallHook {
  return typeof value === 'function'
}

function assertEngineModule(module: unknown): asserts module is EngineModule {
  const found =
    typeof module === 'object' &&
    module !== null &&
    'NODEFS' in module &&
    typeof module.NODEFS === 'object' &&
    module.NODEFS !== null &&
    'stream_ops' in module.NODEFS &&
    'realPath' in module.NODEFS &&
    'FS' in module &&
    typeof module.FS === 'object' &&
    module.FS !== null &&
    ['isFile', 'lookupNode', 'destroyNode', 'closeStream'].every(name => Object.hasOwn(Object(module.FS), name)) &&
    '_PostgresMainLoopOnce' in module
  if (!found) throw new Error('this PGlite has another inside than the one this service was built for')
}
