// How late this machine is: limits of time are judged by what it allowed in the same round.
import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

const SAMPLE_EVERY_MS = 200
const REMEMBERED_MS = 300_000
/** A request that waits for so long is as late as that. */
const TIMEOUT_MS = 2_000

export interface MachineProbes {
  /** The monotonic clock. */
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** What a program without any disturbance waits for: each is timed. One that rejects says nothing. */
  readonly waits: readonly (() => Promise<unknown>)[]
}

interface Sample {
  readonly at: number
  /** Null while it goes on. */
  lateMs: number | null
}

/** Times a timer, the disk and a request to the node that answers first, again and again. */
export class Machine {
  readonly #probes: MachineProbes
  #samples: Sample[] = []

  constructor(probes: MachineProbes) {
    this.#probes = probes
  }

  /** How late the latest was between two instants. What still waits counts too. Milliseconds. */
  lateMs(since: number, until = Number.POSITIVE_INFINITY): number {
    const now = this.#probes.nowMs()
    const late = this.#samples
      .filter(({ at, lateMs }) => at <= until && at + (lateMs ?? now - at) >= since)
      .map(({ at, lateMs }) => lateMs ?? Math.max(0, now - at - SAMPLE_EVERY_MS))
    return Math.max(0, ...late)
  }

  /** Samples again and again, until it is disposed. */
  watch(): AsyncDisposable {
    const over = new AbortController()
    const looking = (async () => {
      while (!over.signal.aborted) await this.sample()
    })()
    return {
      async [Symbol.asyncDispose]() {
        over.abort()
        await looking
      }
    }
  }

  async sample(): Promise<void> {
    const { nowMs, sleep, waits } = this.#probes
    const sample: Sample = { at: nowMs(), lateMs: null }
    this.#samples = [...this.#samples.filter(({ at }) => at > sample.at - REMEMBERED_MS), sample]
    await sleep(SAMPLE_EVERY_MS)
    const timerMs = nowMs() - sample.at - SAMPLE_EVERY_MS
    const waited = await Promise.all(waits.map(wait => this.#timed(wait)))
    sample.lateMs = Math.max(0, timerMs, ...waited)
  }

  async #timed(wait: () => Promise<unknown>): Promise<number> {
    const { nowMs } = this.#probes
    const began = nowMs()
    return await wait().then(
      () => nowMs() - began,
      () => 0
    )
  }
}

/** @param file is written, and has to reach the disk @param urls of the nodes; one that is not there refuses, and says nothing */
export function machine(file: string, urls: readonly string[]): Machine {
  const answer = async (url: string) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    await fetch(`${url}/healthz`, { signal }).catch(cause => {
      if (!signal.aborted) throw cause
    })
  }
  const disk = async () => {
    await using handle = await open(file, 'w')
    await handle.write('x')
    await handle.datasync()
  }
  return new Machine({
    nowMs: () => performance.now(),
    sleep: ms => delay(ms),
    waits: [disk, () => Promise.any(urls.map(answer))]
  })
}
