import type { Figure } from '../harness/figures.ts'
import { pin } from '../harness/pinning.ts'
import { processorTimes } from '../harness/processor.ts'
import { median } from '../harness/stats.ts'
import { startWorker } from '../harness/workers.ts'
import type { FloorRequests } from './floor-requests.ts'
import type { Scene } from './scene.ts'

/** Trades in one message of the sandbox. The service sends what arrived in one turn in one write. */
const BATCHES = [20, 1]
/**
 * The floor and the service are measured alternately, this many times each; each run is compared with its neighbour, because other load
 * varies.
 */
const ROUNDS = 6
/** Before each run, because the one before it filled the processor's caches. */
const WARM_SECONDS = 0.5
/** Below the bound of what may wait for one session in the service. */
const WINDOW = 8_000
const SHARE_LEAST = 0.6
const TRADES_LEAST = 150_000

export interface PartOptions {
  readonly scene: Scene
  readonly seconds: number
  readonly flags: readonly string[]
  readonly record: (figure: Figure) => void
}

interface Rate {
  readonly perSecond: number
  /** Processor time per trade at the measured process, in microseconds. */
  readonly micros: number
}

/** From the sandbox's market stream to the client's: maximum throughput, compared with the floor. The client checks every trade. */
export async function throughput({ scene, seconds, flags, record }: PartOptions): Promise<void> {
  const { symbols } = scene
  await using floor = startWorker<FloorRequests>('bench/market/floor.ts', flags)
  pin(floor.pid, 'measured')
  const { url: floorUrl } = await floor.ask('open', { sandboxUrl: scene.sandboxUrl, symbols })
  for (const batch of BATCHES) {
    const [floors, services]: [Rate[], Rate[]] = [[], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      await scene.driver.ask('attend', { url: floorUrl, token: null, reader: 'floor', symbols })
      floors.push(await rateOf(scene, floor.pid, batch, seconds / ROUNDS))
      await scene.driver.ask('attend', { url: scene.streamUrl, token: scene.token, reader: 'service', symbols })
      services.push(await rateOf(scene, scene.running.service.pid, batch, seconds / ROUNDS))
    }
    report(batch, symbols.length, floors, services, record)
  }
}

async function rateOf({ driver }: Scene, pid: number, batch: number, seconds: number): Promise<Rate> {
  const plan = { batch, perSecond: null, windowMax: WINDOW }
  await driver.ask('feed', { ...plan, seconds: WARM_SECONDS })
  const taken = () => processorTimes({ measured: pid }).get('measured') ?? Number.NaN
  const before = taken()
  const { total, spanMs } = await driver.ask('feed', { ...plan, seconds })
  return { perSecond: (total * 1_000) / spanMs, micros: ((taken() - before) * 1_000) / total }
}

function report(batch: number, symbols: number, floors: readonly Rate[], services: readonly Rate[], record: PartOptions['record']): void {
  const of = (rates: readonly Rate[], figure: (rate: Rate) => number) => median(rates.map(figure))
  const [floor, service] = [of(floors, ({ perSecond }) => perSecond), of(services, ({ perSecond }) => perSecond)]
  const micros = (rates: readonly Rate[]) => of(rates, rate => rate.micros)
  // A saturated client would make them equal; their processor time would show that.
  const pairs = (share: (service: Rate, floor: Rate) => number) =>
    median(services.flatMap((one, round) => (floors[round] === undefined ? [] : [share(one, floors[round])])))
  const byRate = pairs((one, other) => one.perSecond / other.perSecond)
  const byCost = pairs((one, other) => other.micros / one.micros)
  const percent = (share: number) => `${Math.round(100 * share)} %`
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const named = batch === 1 ? 'one per message of the sandbox' : `${batch} per message of the sandbox`
  record({
    what: `Trades of ${symbols} symbols, ${named}, relative to the floor`,
    found: `${percent(byRate)} (${whole(service)} of ${whole(floor)} /s; by processor time ${percent(byCost)})`,
    target: `at least ${percent(SHARE_LEAST)}`,
    reached: Math.min(byRate, byCost) >= SHARE_LEAST
  })
  record({
    what: `… trades a second in one process on one core, ${named}`,
    found: `${whole(service)} /s`,
    target: batch === 1 ? '' : `at least ${whole(TRADES_LEAST)} /s`,
    reached: batch === 1 ? null : service >= TRADES_LEAST
  })
  record({
    what: `… processor time per trade, ${named}: service, floor`,
    found: `${micros(services).toFixed(2)}, ${micros(floors).toFixed(2)} µs`,
    target: '',
    reached: null
  })
}
