import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Store } from '@trunkline/core/ports/store'

const REMEMBER_MS = 2_000
const PROBE_MS = 3_000

/** Whether the service is ready: started, not stopping, with a store that writes durably. */
export class Readiness {
  readonly #store: Pick<Store, 'probe'>
  readonly #clock: Clock
  readonly #delay = monitorEventLoopDelay({ resolution: 20 })
  #state: 'starting' | 'serving' | 'stopping' = 'starting'
  #probed: { readonly at: number; readonly result: Promise<boolean> } | null = null

  constructor(store: Pick<Store, 'probe'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
    this.#delay.enable()
  }

  serving(): void {
    this.#state = 'serving'
  }

  stopping(): void {
    this.#state = 'stopping'
  }

  /** 99th percentile of the event loop's delay since the start, in seconds. */
  loopDelaySeconds(): number {
    return this.#delay.percentile(99) / 1e9
  }

  /** Why it is not ready; null if it is. Probes of the store are shared and cached, so that asking costs nothing. */
  async problem(): Promise<'starting' | 'stopping' | 'store' | null> {
    if (this.#state !== 'serving') return this.#state
    const now = this.#clock.monotonicMs()
    if (this.#probed === null || now - this.#probed.at > REMEMBER_MS) this.#probed = { at: now, result: this.#probe() }
    return (await this.#probed.result) ? null : 'store'
  }

  async #probe(): Promise<boolean> {
    const patience = new AbortController()
    const late = this.#clock.sleep(PROBE_MS, patience.signal).then(
      () => false,
      () => false
    )
    try {
      return await Promise.race([this.#store.probe().then(() => true), late])
    } catch {
      return false
    } finally {
      patience.abort()
    }
  }
}
