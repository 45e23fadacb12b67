import { brokerList, presentBroker } from '../../../wire/broker.ts'
import { platformEndpoint } from '../../endpoint.ts'

export const getBrokers = platformEndpoint({
  method: 'GET',
  path: '/brokers',
  scope: 'read',
  operationId: 'listBrokers',
  tag: 'Brokers',
  summary: 'List brokers and their capabilities',
  success: { status: 200, description: 'The brokers that users can connect.', schema: brokerList },
  async handle(_call, { deps }) {
    return [...deps.brokers.values()].map(presentBroker)
  }
})
