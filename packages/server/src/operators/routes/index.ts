// Every operation of the API for operators. The server, its OpenAPI document and the tests read this list.
import type { Operation } from '../endpoint.ts'
import { DELIVERIES } from './deliveries.ts'
import { DISABLING } from './disabling.ts'
import { ORDERS } from './orders.ts'
import { PLATFORMS } from './platforms.ts'
import { READING_AGAIN } from './reading-again.ts'
import { REPLAY } from './replay.ts'
import { SANDBOX_MARKET } from './sandbox.ts'
import { SANDBOX_USERS } from './sandbox-users.ts'
import { SEARCH } from './search.ts'
import { SERVICE } from './service.ts'
import { SESSIONS } from './sessions.ts'
import { SETTLING } from './settling.ts'
import { TRADING } from './trading.ts'
import { WEBHOOK_ENDPOINTS } from './webhook-endpoints.ts'

export const OPERATIONS: readonly Operation[] = [
  ...SESSIONS,
  ...SERVICE,
  ...SEARCH,
  ...PLATFORMS,
  ...DISABLING,
  ...READING_AGAIN,
  ...ORDERS,
  ...SETTLING,
  ...WEBHOOK_ENDPOINTS,
  ...DELIVERIES,
  ...SANDBOX_MARKET,
  ...SANDBOX_USERS,
  ...REPLAY,
  ...TRADING
]
