import { type Spread, spreadOf } from '../harness/stats.ts'
import type { PartOptions } from './throughput.ts'

const PER_SECOND = 20_000
/** The sandbox sends a message each millisecond. */
const BATCH = 20
const WINDOW = 8_000
const WARM_SECONDS = 2
const MEDIAN_MS_MAX = 1
const P99_MS_MAX = 8

/**
 * The delay that the service adds to a trade at a steady rate: trade by trade, less the delay of the same trade at the front's own stream.
 */
export async function latency({ scene, seconds, record }: PartOptions): Promise<void> {
  const { driver, streamUrl, token, symbols } = scene
  await driver.ask('attend', { url: streamUrl, token, reader: 'service', symbols })
  await driver.ask('listen', null)
  const plan = { batch: BATCH, perSecond: PER_SECOND, windowMax: WINDOW }
  await driver.ask('feed', { ...plan, seconds: WARM_SECONDS })
  const { latencies, direct, total, spanMs } = await driver.ask('feed', { ...plan, seconds })
  const achieved = (total * 1_000) / spanMs
  if (achieved < 0.98 * PER_SECOND) throw new Error(`only ${Math.round(achieved)} trades a second could be sent instead of ${PER_SECOND}`)
  // Trade by trade, so that pauses of the front or of the client do not count as the service's.
  const added = spreadOf([...latencies].map((latency, number) => latency - (direct[number] ?? Number.NaN)))
  const [ours, theirs] = [spreadOf([...latencies]), spreadOf([...direct])]
  const pair = (of: (spread: Spread) => number) => `${of(added).toFixed(2)} ms (${of(ours).toFixed(2)}, sandbox ${of(theirs).toFixed(2)})`
  const rate = PER_SECOND.toLocaleString('en')
  record({
    what: `Added latency of a trade at ${rate} /s: median`,
    found: pair(({ median }) => median),
    target: `at most ${MEDIAN_MS_MAX} ms`,
    reached: added.median <= MEDIAN_MS_MAX
  })
  record({
    what: `Added latency of a trade at ${rate} /s: 99th percentile`,
    found: pair(({ p99 }) => p99),
    target: `at most ${P99_MS_MAX} ms`,
    reached: added.p99 <= P99_MS_MAX
  })
}
