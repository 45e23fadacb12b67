// Trading for users who have connections to the sandbox only: the console's ticket, and what their accounts have.
import { ACCOUNTS } from '../../http/routes/accounts.ts'
import { MARKET } from '../../http/routes/market.ts'
import { deleteOrder, postOrder, postPreview } from '../../http/routes/order-commands.ts'
import { getOrder, getOrders } from '../../http/routes/orders.ts'
import type { Operation } from '../endpoint.ts'
import { forUser } from '../for-user.ts'

/** What the page of a user's trading reads. Market data is read and not streamed: a token of it would end those of the platform. */
const READ = new Set(['listAccounts', 'listBalances', 'listPositions', 'readBars', 'readQuote'])

export const TRADING: readonly Operation[] = [
  ...[...ACCOUNTS, ...MARKET].flatMap(endpoint => (endpoint.auth === 'user' && READ.has(endpoint.operationId) ? forUser(endpoint) : [])),
  forUser(getOrders),
  forUser(getOrder),
  forUser(postPreview, 'Nothing is placed, however often it is sent.'),
  forUser(postOrder, 'A repetition is refused with `cl_order_id_duplicate`, which names the order.'),
  forUser(deleteOrder, 'A repetition cancels nothing more.')
]
