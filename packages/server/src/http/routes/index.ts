// Every endpoint of the REST API. The server, the API reference and the tests read this list.
import type { Endpoint } from '../endpoint.ts'
import { ACCOUNTS } from './accounts.ts'
import { CONNECTIONS } from './connections.ts'
import { MARKET } from './market.ts'
import { deleteOrder, patchOrder, postCancel, postOrder, postPreview } from './order-commands.ts'
import { getOrder, getOrderOfAccount, getOrders } from './orders.ts'
import { getBrokers, getEvents } from './platform.ts'
import { USERS } from './users.ts'
import { WEBHOOKS } from './webhooks.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  ...USERS,
  ...CONNECTIONS,
  ...ACCOUNTS,
  ...[postOrder, postPreview, getOrders, getOrder, getOrderOfAccount, patchOrder, deleteOrder, postCancel],
  getEvents,
  ...WEBHOOKS,
  getBrokers,
  ...MARKET
]
