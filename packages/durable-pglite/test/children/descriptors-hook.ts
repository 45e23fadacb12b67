/** A process without descriptors while a test requests it. */
import fs from 'node:fs'
import type { HostFiles } from '../../src/durable-fs.ts'
import type { EngineModule } from '../../src/engine-module.ts'

/** What fails: nothing; creating a file; opening it, after it was created. */
export const FAILS = { nothing: 0, create: 1, open: 2 } as const

export function install(_module: EngineModule, _host: HostFiles, data: unknown): void {
  if (!(data instanceof Int32Array)) throw new Error('the descriptors hook needs the shared state')
  const failing = (what: number) => {
    if (Atomics.load(data, 0) === what) throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' })
  }
  const { openSync, writeFileSync } = fs
  // The engine's module has the same object of functions.
  Object.assign(fs, {
    openSync(...parameters: Parameters<typeof openSync>) {
      failing(FAILS.open)
      return openSync(...parameters)
    },
    writeFileSync(...parameters: Parameters<typeof writeFileSync>) {
      failing(FAILS.create)
      writeFileSync(...parameters)
    }
  })
}
