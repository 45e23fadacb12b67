import type { Figure } from '../harness/figures.ts'
import { collectable, Heap } from '../harness/heap.ts'
import type { Engine } from '../harness/service.ts'
import { median } from '../harness/stats.ts'
import { openScene } from './scene.ts'

const SESSIONS = 500
const SYMBOLS = 10
/** Twenty subscriptions per session. */
const CHANNELS = ['trades', 'quotes']
const SUBSCRIPTIONS = SESSIONS * SYMBOLS * CHANNELS.length
const WARM_SESSIONS = 20
const KB_MAX = 3

export interface MemoryOptions {
  readonly engine: Engine
  /** Services measured one after the other, each from its start. */
  readonly times: number
  readonly record: (figure: Figure) => void
}

/** The cost of subscriptions: resident memory of a service with them less that of the same service before, including sockets. */
export async function memory({ engine, times, record }: MemoryOptions): Promise<void> {
  const found: { readonly resident: number; readonly heap: number }[] = []
  for (let time = 0; time < times; time += 1) found.push(await kilobytesOfSubscription(engine))
  const resident = median(found.map(one => one.resident))
  const each = found.map(one => one.resident.toFixed(2)).join(', ')
  record({
    what: `${SUBSCRIPTIONS.toLocaleString('en')} subscriptions over ${SESSIONS} sockets: resident memory per subscription`,
    found: `${resident.toFixed(2)} KB (${each}; heap ${median(found.map(one => one.heap)).toFixed(2)} KB)`,
    target: `at most ${KB_MAX} KB`,
    reached: resident <= KB_MAX
  })
}

async function kilobytesOfSubscription(engine: Engine): Promise<{ readonly resident: number; readonly heap: number }> {
  const handle = await collectable()
  await using scene = await openScene({ engine, flags: handle.flags, symbols: SYMBOLS })
  const { driver, streamUrl: url, token, symbols, running } = scene
  using heap = await Heap.of(running.service.pid, handle)
  const subscriptions = CHANNELS.flatMap(channel => symbols.map(symbol => ({ channel, symbol })))
  // The first sessions load code, which does not count as a subscription's memory.
  await driver.ask('idle', { url, token, sessions: WARM_SESSIONS, subscriptions })
  await driver.ask('leave', null)
  const empty = { resident: await heap.settledMb(), heap: await heap.usedMb() }
  await driver.ask('idle', { url, token, sessions: SESSIONS, subscriptions })
  const full = { resident: await heap.settledMb(), heap: await heap.usedMb() }
  const each = (megabytes: number) => (megabytes * 1_024) / SUBSCRIPTIONS
  return { resident: each(full.resident - empty.resident), heap: each(full.heap - empty.heap) }
}
