import type { Account } from '../../domain/account.ts'
import { ServiceError } from '../../domain/errors.ts'
import type { AccountId, BrokerId } from '../../domain/ids.ts'
import type { Timestamp } from '../../domain/timestamp.ts'
import { BrokerFault, PreviewPlaced } from '../../ports/broker.ts'
import type { OrderPreview } from '../../ports/preview.ts'
import type { BrokerSessions } from '../broker-access/broker-sessions.ts'
import type { UserCaller } from '../caller.ts'
import type { Deps } from '../deps.ts'
import { offeredBroker } from '../offered-broker.ts'
import { limited } from '../time-limits.ts'
import { checkTicket, type TicketRequest } from './ticket-check.ts'
import { type Tradable, type TradableDeps, tradableAccount } from './tradable.ts'

interface PreviewDeps extends TradableDeps, Pick<Deps, 'clock' | 'log' | 'meter' | 'timing'> {
  readonly sessions: BrokerSessions
}

/** An order to preview. It has no client order id: it places nothing and uses none up. */
export interface PreviewRequest extends TicketRequest {
  readonly accountId: AccountId
  readonly broker: BrokerId
}

export interface Previewed {
  readonly account: Account
  readonly preview: OrderPreview
  /** When the broker was asked. */
  readonly requestedAt: Timestamp
}

/**
 * Asks the broker to estimate an order, after the same checks as for placing it. Nothing is stored or placed, and the broker is asked once.
 * @throws ServiceError preview_unsupported, account_not_found, entitlement_missing, connection_broken, field_invalid, order_not_supported,
 * broker_unavailable; internal if the broker answered with a placed order.
 */
export async function previewOrder(deps: PreviewDeps, caller: UserCaller, request: PreviewRequest): Promise<Previewed> {
  const { capabilities } = offeredBroker(deps, request.broker)
  if (!capabilities.orderPreview) {
    const message = `${capabilities.name} has no order preview; \`order_preview\` in GET /brokers says which brokers have one.`
    throw new ServiceError('preview_unsupported', message)
  }
  const ticket = checkTicket(request, capabilities)
  const tradable = await tradableAccount(deps, caller, request.accountId, request.broker)
  const { account, connection } = tradable
  const requestedAt = deps.clock.now()
  try {
    const session = deps.sessions.get(connection)
    const order = { ...ticket, brokerAccountId: account.brokerAccountId }
    const preview = await limited(deps.clock, deps.timing.answerWithinMs, signal => session.preview(order, signal))
    deps.meter.count('order_previews_total', { broker: account.broker, outcome: preview.kind })
    return { account, preview, requestedAt }
  } catch (cause) {
    if (!(cause instanceof BrokerFault)) throw cause
    throw await failure(deps, tradable, cause)
  }
}

async function failure(deps: PreviewDeps, { account, connection }: Tradable, cause: BrokerFault): Promise<unknown> {
  const { broker, accountId } = account
  const { connectionId } = connection
  deps.meter.count('order_previews_total', { broker, outcome: cause instanceof PreviewPlaced ? 'placed' : 'failed' })
  if (cause instanceof PreviewPlaced) {
    const { brokerOrderId } = cause
    deps.log.error('ALARM: a broker answered a preview with an order', { broker, connectionId, accountId, brokerOrderId })
    const order = brokerOrderId === null ? 'an order' : `the order ${brokerOrderId}`
    const message = `${broker} answered this preview with ${order}, which it should not have placed: read GET /orders before you do anything else, and tell the operator the request_id.`
    return new ServiceError('internal', message, { cause })
  }
  await deps.sessions.reportFault(connection, cause)
  if (cause.kind === 'credentials_rejected') return cause
  deps.log.warn('an order could not be previewed', { broker, connectionId, kind: cause.kind, reason: cause.message })
  const seconds = cause.retryAfterMs === undefined ? {} : { retryAfterSeconds: Math.max(1, Math.ceil(cause.retryAfterMs / 1_000)) }
  const why =
    cause.kind === 'rate_limited'
      ? `The rate limit of ${broker} leaves no capacity for a preview.`
      : `${broker} gave no preview of this order.`
  const message = `${why} Nothing was placed; ask again in a moment.`
  return new ServiceError('broker_unavailable', message, { cause, ...seconds })
}
