// Every endpoint of the REST API. The server, the API reference and the tests read this list.
import type { Endpoint } from '../endpoint.ts'
import { getAccounts } from './accounts/list-accounts.ts'
import { getBalances } from './accounts/list-balances.ts'
import { getPositions } from './accounts/list-positions.ts'
import { getTransactions } from './accounts/list-transactions.ts'
import { getBrokers } from './brokers/list-brokers.ts'
import { postClaim } from './connections/claim-connection.ts'
import { postConnection } from './connections/create-connection.ts'
import { deleteConnectionById } from './connections/delete-connection.ts'
import { getToken } from './connections/get-token.ts'
import { getConnections } from './connections/list-connections.ts'
import { getPlatformConnections } from './connections/list-platform-connections.ts'
import { getEvents } from './events/list-events.ts'
import { getBars } from './market/read-bars.ts'
import { getChain } from './market/read-chain.ts'
import { getExpirations } from './market/read-expirations.ts'
import { getQuote } from './market/read-quote.ts'
import { getSymbols } from './market/search-symbols.ts'
import { deleteOrder } from './orders/cancel-order.ts'
import { postCancel } from './orders/cancel-orders.ts'
import { getOrders } from './orders/list-orders.ts'
import { patchOrder } from './orders/modify-order.ts'
import { postOrder } from './orders/place-order.ts'
import { postPreview } from './orders/preview-order.ts'
import { getOrder, getOrderOfAccount } from './orders/read-order.ts'
import { postUser } from './users/create-user.ts'
import { deleteUserById } from './users/delete-user.ts'
import { getUsers } from './users/list-users.ts'
import { rotateSecret } from './users/rotate-secret.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  postUser,
  getUsers,
  deleteUserById,
  rotateSecret,
  postConnection,
  postClaim,
  getConnections,
  getPlatformConnections,
  deleteConnectionById,
  getToken,
  getAccounts,
  getBalances,
  getPositions,
  getTransactions,
  postOrder,
  postPreview,
  getOrders,
  getOrder,
  getOrderOfAccount,
  patchOrder,
  deleteOrder,
  postCancel,
  getEvents,
  getBrokers,
  getSymbols,
  getExpirations,
  getChain,
  getQuote,
  getBars
]
