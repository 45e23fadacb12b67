import { spreadOf } from '../harness/stats.ts'
import type { PartOptions } from './throughput.ts'

const BARS = 10_000
const MINUTE_MS = 60_000
const WARM = 3
const TIMES = 20
const BEHIND_MS_MAX = 50
/** Trades around the clock, so that almost every minute has a bar. */
const SYMBOL = 'BTC/USD'
/** The number of bars that may be missing, for minutes without a trade. */
const QUIET_SHARE_MAX = 0.05

/** The delay from the sandbox's first byte of 10,000 bars to the client's. Each request has another window, so that no cache helps. */
export async function snapshots({ scene, record }: PartOptions): Promise<void> {
  const { driver, streamUrl: url, token } = scene
  const newest = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  const behind: number[] = []
  const sandbox: number[] = []
  const whole: number[] = []
  for (let time = 0; time < WARM + TIMES; time += 1) {
    const to = newest - time * MINUTE_MS
    const window = { from: new Date(to - BARS * MINUTE_MS).toISOString(), to: new Date(to).toISOString() }
    const { sandboxMs, firstMs, lastMs, bars } = await driver.ask('snapshot', { url, token, symbol: SYMBOL, ...window })
    if (bars > BARS || bars < BARS * (1 - QUIET_SHARE_MAX)) throw new Error(`a snapshot of ${BARS} minutes has ${bars} bars`)
    if (time < WARM) continue
    behind.push(firstMs - sandboxMs)
    sandbox.push(sandboxMs)
    whole.push(lastMs)
  }
  const ms = (values: readonly number[]) => spreadOf(values).median.toFixed(1)
  const { median, max } = spreadOf(behind)
  record({
    what: `A snapshot of ${BARS.toLocaleString('en')} bars: first byte after the sandbox's own`,
    found: `${median.toFixed(1)} ms (at most ${max.toFixed(1)} ms of ${TIMES}; the sandbox began after ${ms(sandbox)}, everything after ${ms(whole)})`,
    target: `at most ${BEHIND_MS_MAX} ms`,
    reached: median <= BEHIND_MS_MAX
  })
}
