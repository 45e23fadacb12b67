import { ServiceError } from '../domain/errors.ts'
import type { BrokerId } from '../domain/ids.ts'
import type { BrokerDefinition } from '../ports/broker.ts'
import type { Deps } from './deps.ts'

/** The broker with that name. @throws ServiceError field_invalid, naming the brokers offered. */
export function offeredBroker({ brokers }: Pick<Deps, 'brokers'>, broker: BrokerId): BrokerDefinition {
  const definition = brokers.get(broker)
  if (definition !== undefined) return definition
  const message = `must be one of ${[...brokers.keys()].join(', ')}, was ${broker}`
  throw new ServiceError('field_invalid', `broker ${message}`, { details: [{ path: 'broker', message }] })
}
