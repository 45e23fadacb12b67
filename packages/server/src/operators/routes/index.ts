// Every operation of the API for operators. The server, its OpenAPI document and the tests read this list.
import type { Operation } from '../endpoint.ts'
import { DELIVERIES } from './deliveries.ts'
import { ORDERS } from './orders.ts'
import { PLATFORMS } from './platforms.ts'
import { REPLAY } from './replay.ts'
import { SANDBOX_MARKET } from './sandbox.ts'
import { SANDBOX_USERS } from './sandbox-users.ts'
import { SEARCH } from './search.ts'
import { SERVICE } from './service.ts'
import { SESSIONS } from './sessions.ts'

export const OPERATIONS: readonly Operation[] = [
  ...SESSIONS,
  ...SERVICE,
  ...SEARCH,
  ...PLATFORMS,
  ...ORDERS,
  ...DELIVERIES,
  ...SANDBOX_MARKET,
  ...SANDBOX_USERS,
  ...REPLAY
]
