// The service as it is, with the sandbox on offer under several names and a broker that takes keys: the portal where many are connected.
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { KeyedBroker } from '@trunkline/testkit/scripted-broker/keyed-broker'
import { compose } from '../../src/compose.ts'
import { settingsOf } from '../../src/config/settings.ts'
import { SystemClock } from '../../src/ops/clock.ts'
import { PinoLog } from '../../src/ops/log.ts'

const OTHERS = [
  ['NORTHWIND', 'Northwind Brokerage', '#1d4ed8', 'Nw'],
  ['LONGNAME', 'The First Amalgamated Brokerage and Investment Company of Lower Saxony', '#7c2d12', 'FA'],
  ['PALE', 'Pale Securities', '#fde68a', 'Pa'],
  ['RIGHT_TO_LEFT', 'בית השקעות לדוגמה', '#6b21a8', 'בה']
] as const

function severalOf(real: ReadonlyMap<BrokerId, BrokerDefinition>): ReadonlyMap<BrokerId, BrokerDefinition> {
  const keyed = new KeyedBroker(new SystemClock()).definition
  const more = [...real.values()].slice(0, 1).flatMap(definition =>
    OTHERS.map(([id, name, logoColor, logoInitials]) => ({
      ...definition,
      capabilities: { ...definition.capabilities, id: id as BrokerId, name, logoColor, logoInitials }
    }))
  )
  return new Map([...real, ...[...more, keyed].map(definition => [definition.capabilities.id, definition] as const)])
}

const settings = settingsOf(process.env)
const service = await compose(settings, new PinoLog(settings.logLevel), process.env, { brokers: severalOf })
process.once('SIGTERM', () => void service.stop())
