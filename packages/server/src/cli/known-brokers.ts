import { brokers } from '@trunkline/brokers/registry'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import { SystemClock } from '../ops/clock.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** What every broker of the registry can do. They are given settings that lead nowhere; nothing is asked of them. */
export async function knownBrokers(): Promise<readonly BrokerCapabilities[]> {
  await using all = brokers({
    clock: new SystemClock(),
    log: quiet,
    meter: { count() {}, observe() {} },
    fraction: () => 0,
    sandbox: { baseUrl: 'http://127.0.0.1:9', clientId: 'nobody', clientSecret: 'nobody' }
  })
  return [...all.values()].map(({ capabilities }) => capabilities).sort((a, b) => (a.id < b.id ? -1 : 1))
}
