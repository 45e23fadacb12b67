import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { METRICS_TOKEN } from '../metrics.ts'
import { PATIENCE_MS } from '../patience.ts'
import { within } from '../within.ts'
import { ChildProgram } from './child-program.ts'
import type { Demo } from './platform.ts'
import type { Vitals } from './vitals.ts'

/** The time limit of an answer. */
const ASIDE_MS_MAX = 30_000
const VITALS = fileURLToPath(new URL('./vitals.ts', import.meta.url))
const SET_CLOCK = fileURLToPath(new URL('./set-clock.ts', import.meta.url))
const READY = 'Trunkline is ready'

/** The service as in production: its own program, in a separate process. */
export class LiveService extends ChildProgram {
  #demo: Demo | null = null

  private constructor(main: string, env: Readonly<Record<string, string | undefined>>) {
    super(main, env, ['--expose-gc', '--import', VITALS, '--import', SET_CLOCK])
  }

  /** @param main the service's program. @param dataDir where it writes the demo platform. @param env all of its other environment. */
  static async start(main: string, dataDir: string, env: Readonly<Record<string, string | undefined>>): Promise<LiveService> {
    const service = new LiveService(main, { TRUNKLINE_METRICS_TOKEN: METRICS_TOKEN, ...env, TRUNKLINE_DATA_DIR: dataDir })
    const ready = Promise.withResolvers<void>()
    service.child.stdout?.on('data', () => service.output.includes(READY) && ready.resolve())
    try {
      await within(PATIENCE_MS, Promise.race([ready.promise, service.died()]), () => `the service was ready:\n${service.output}`)
    } catch (cause) {
      service.kill()
      await service.ended()
      throw cause
    }
    service.#demo = JSON.parse(readFileSync(join(dataDir, 'demo-platform.json'), 'utf8'))
    return service
  }

  get demo(): Demo {
    assert.ok(this.#demo !== null)
    return this.#demo
  }

  /** Sets its wall clock ahead of ours by this time, or back; 0 resets it. */
  async setClock(aheadMs: number): Promise<void> {
    const shown = Date.parse(await this.ask({ ask: 'clock', aheadMs }))
    assert.ok(Math.abs(shown - Date.now() - aheadMs) < ASIDE_MS_MAX, `the program's clock shows ${new Date(shown).toISOString()}`)
  }

  /** Its memory and handles after a garbage collection. */
  async vitals(): Promise<Vitals> {
    return await this.ask({ ask: 'vitals' })
  }
}
