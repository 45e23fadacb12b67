// The service as it is, with the sandbox on offer under several names: what the portal looks like where many brokers are connected.
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import { compose } from '../../src/compose.ts'
import { settingsOf } from '../../src/config/settings.ts'
import { PinoLog } from '../../src/ops/log.ts'

const OTHERS = [
  ['NORTHWIND', 'Northwind Brokerage', '#1d4ed8'],
  ['LONGNAME', 'The First Amalgamated Brokerage and Investment Company of Lower Saxony', '#7c2d12'],
  ['PALE', 'Pale Securities', '#fde68a'],
  ['RIGHT_TO_LEFT', 'בית השקעות לדוגמה', '#6b21a8']
] as const

function severalOf(real: ReadonlyMap<BrokerId, BrokerDefinition>): ReadonlyMap<BrokerId, BrokerDefinition> {
  const more = [...real.values()].flatMap(definition =>
    OTHERS.map(([id, name, logoColor]) => ({
      ...definition,
      capabilities: { ...definition.capabilities, id: id as BrokerId, name, logoColor }
    }))
  )
  return new Map([...real, ...more.map(definition => [definition.capabilities.id, definition] as const)])
}

const settings = settingsOf(process.env)
const service = await compose(settings, new PinoLog(settings.logLevel), process.env, { brokers: severalOf })
process.once('SIGTERM', () => void service.stop())
