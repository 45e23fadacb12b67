/** A slow disk: every fsync waits while the gate is shut. */
import { fsyncSync } from 'node:fs'
import type { HostFiles } from '../../src/durable-fs.ts'
import type { EngineModule } from '../../src/engine-module.ts'

/** Shared between the test and the engine's thread. */
export class Gate {
  /** [shut or open, fsyncs waiting] */
  readonly state: Int32Array<SharedArrayBuffer>

  constructor(state: Int32Array<SharedArrayBuffer> = new Int32Array(new SharedArrayBuffer(8))) {
    this.state = state
  }

  shut(): void {
    Atomics.store(this.state, 0, 1)
  }

  open(): void {
    Atomics.store(this.state, 0, 0)
    Atomics.notify(this.state, 0)
  }

  /** Resolves when an fsync waits at the gate. */
  async held(): Promise<void> {
    while (Atomics.load(this.state, 1) === 0) await Atomics.waitAsync(this.state, 1, 0).value
  }

  pass(): void {
    if (Atomics.load(this.state, 0) === 0) return
    Atomics.store(this.state, 1, 1)
    Atomics.notify(this.state, 1)
    while (Atomics.load(this.state, 0) === 1) Atomics.wait(this.state, 0, 1)
    Atomics.store(this.state, 1, 0)
  }
}

export function install(_module: EngineModule, host: HostFiles, data: unknown): void {
  if (!(data instanceof Int32Array) || !(data.buffer instanceof SharedArrayBuffer)) throw new Error('the gate hook needs the shared state')
  const gate = new Gate(new Int32Array(data.buffer))
  host.fsync = fd => {
    gate.pass()
    fsyncSync(fd)
  }
}
