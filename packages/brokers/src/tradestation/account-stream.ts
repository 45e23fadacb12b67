/**
 * TradeStation's orders as they are read, and its account streams of orders and positions: all that is there first, and then what changes.
 */

import { Malformed } from '@trunkline/core/domain/malformed'
import { type Day, epochMs, parseDay, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { isSuccess } from '../kit/calls.ts'
import type { HttpReply, HttpRequest } from '../kit/http.ts'
import { readObject } from '../kit/json.ts'
import { field, text, textOrNull, type Wire } from '../kit/parse.ts'
import { get, type Query } from '../kit/requests.ts'
import type { AccountMessage } from '../kit/runtime/account-messages.ts'
import type { AccountStreamDefinition } from '../kit/runtime/account-stream.ts'
import type { OpenLogin, ReadDefinitions } from '../kit/runtime/definition.ts'
import type { KnownAccounts } from '../kit/runtime/known-accounts.ts'
import { type LineStreamsDefinition, lineAddress } from '../kit/runtime/line-streams.ts'
import type { ListedOrders, WholeOrder } from '../kit/runtime/order-totals.ts'
import type { OrderTracker } from '../kit/runtime/order-tracker.ts'
import { perLogin } from '../kit/runtime/per-login.ts'
import type { ListRead, OrderContext } from '../kit/runtime/read-definitions.ts'
import { mergedOrders } from '../kit/runtime/reads.ts'
import { parseOrder, parsePosition, withRequestedSide } from './codecs.ts'
import {
  accountPath,
  type BrokerError,
  clockOf,
  errorOf,
  errorsOf,
  isPassing,
  isTokenRefused,
  KnownLegs,
  type Resource,
  records,
  resetMs,
  wholeAnswer
} from './quirks.ts'

/** The broker's heartbeat is every 5 s; a little more, so that two missed ones are not the network's jitter. */
export const HEARTBEAT_MS = 6_000
/** From one comparison of the orders with their list to the next, unless the settings say otherwise. */
export const COMPARE_MS = 15_000
/** Pages of a list; beyond it the list is a fault, never cut short. */
const PAGES_MAX = 100
/** The most that a page holds. */
const PAGE = '600'
const DAY_MS = 86_400_000
/** The broker keeps closed orders for 90 days; an older day is refused. */
const RETENTION_DAYS = 89
/** Days begin somewhere between our clock and the exchange's, so one more day is requested. */
const DAYS_APART = 1
const ORDER_SPACING_MS = 500
/** A quota of 320 in 5 minutes is shared by all accounts. */
const BALANCES_SPACING_MS = 5_000

/** `apiUrl` with the version, without a trailing slash. */
export const linesAt = (apiUrl: string): LineStreamsDefinition => ({
  apiUrl,
  accept: 'application/vnd.tradestation.streams.v3+json, application/json',
  mediaType: /^application\/(?:vnd\.tradestation\.streams[^;]*|json)\s*(?:;|$)/i,
  unauthorized: isTokenRefused,
  requestedPauseMs: resetMs
})

/** One order as it is sent, in lists and streams alike. @throws Malformed */
function parsed(wire: Wire, { clock, tracker }: OrderContext): WholeOrder {
  const { order, isPartial } = legsOf(tracker).completed(wire)
  const report = withRequestedSide(parseOrder(order, clock.now()), tracker)
  return isPartial ? { ...report, isUnresolved: true } : report
}

/** The legs that a login's orders were last sent with. */
const legsOf = perLogin((_tracker: OrderTracker) => new KnownLegs())

/** Those of today and whatever is open; with a day, those that closed since then. Of one account or several, with commas. */
interface Listed {
  readonly accounts: string
  readonly since: Day | null
}

function ordersRequest({ accounts, since }: Listed, order: string | null, query: Query = {}): HttpRequest {
  const list = `${accountPath(accounts)}/${since === null ? 'orders' : 'historicalorders'}`
  return get(order === null ? list : `${list}/${encodeURIComponent(order)}`, { since, ...query })
}

export const ordersOf = (login: OrderContext): ListRead<Resource, Listed, WholeOrder> => ({
  resource: 'orders',
  request: (listed, nextToken) => ordersRequest(listed, null, { pageSize: PAGE, nextToken }),
  page(reply) {
    const answer = wholeAnswer(reply)
    const next = answer.NextToken === '' ? null : textOrNull(answer, 'NextToken')
    return { records: records(answer, 'Orders'), next, ...clockOf(reply) }
  },
  pagesMax: PAGES_MAX,
  items: (found, _query, { readable }) => readable('orders', found, wire => parsed(wire, login), 'OrderID')
})

export const ORDER_READS: Pick<ReadDefinitions<Resource>, 'orders' | 'orderList' | 'order'> = {
  async orders(login, { account, since }, signal) {
    const read = async (day: Day | null) => {
      const { known, ...rest } = await login.reads.list(ordersOf(login), { accounts: account, since: day }, signal)
      return { ...rest, known: known.map(({ report }) => report) }
    }
    const open = await read(null)
    // After the others: an order that leaves the list of today in between is in this one.
    const closed = await read(dayBefore(open.asOf, DAYS_APART + Math.max(0, epochMs(open.asOf) - epochMs(since)) / DAY_MS))
    return { ...open, ...mergedOrders(open, { ...closed, known: closed.known.filter(({ updatedAt }) => updatedAt >= since) }) }
  },
  orderList: null,
  order: {
    resource: 'orders',
    // Among those of today and the open ones, and then among the closed ones.
    requests: (key, now) =>
      key.by === 'brokerOrderId'
        ? [null, dayBefore(now, RETENTION_DAYS)].map(since => ordersRequest({ accounts: key.brokerAccountId, since }, key.brokerOrderId))
        : [],
    also: [400, 404],
    absent: isAbsent,
    records: oneOrder,
    item: (record, _account, login) => parsed(record, login).report,
    // Ids come with dashes in places and without in others.
    comparable: id => id.replaceAll('-', '')
  }
}

function dayBefore(now: Timestamp, days: number): Day {
  const ms = epochMs(now) - Math.min(RETENTION_DAYS, Math.ceil(days)) * DAY_MS
  return parseDay(timestampOfMs(ms).slice(0, 10), 'since')
}

function oneOrder({ body }: HttpReply): readonly Wire[] {
  const found = records(readObject(body), 'Orders')
  if (found.length > 1) throw new BrokerFault('malformed', 'the broker answered with another order')
  return found
}

/** The broker's words for an unknown address, which follows (recorded 2025). */
const NO_ADDRESS = /^not found \//i
const ABOUT_ORDER = /order/i
const NO_ORDER = /invalid|not found|not exist|unknown|no such/i

/** Only an answer of the broker about the order itself proves an absence. @throws BrokerFault for any other error, and for none at all */
function isAbsent(reply: HttpReply): boolean {
  const answer = readObject(reply.body)
  if (isSuccess(reply.status) && records(answer, 'Orders').length > 0) return false
  const [error] = isSuccess(reply.status) ? errorsOf(answer) : [errorOf(answer)]
  if (error === undefined) throw new BrokerFault('malformed', 'the broker answered with neither an order nor an error')
  // An address that the broker does not serve has the code of an order that it does not have.
  if (isPassing(error) || NO_ADDRESS.test(error.message))
    throw new BrokerFault('unreachable', `the broker could not look for the order: ${error.message}`)
  if (ABOUT_ORDER.test(error.message) && (error.code === 'NotFound' || NO_ORDER.test(error.message))) return true
  throw new BrokerFault('refused', `the broker refused to look for the order: ${error.message}`)
}

type StreamLogin = Pick<OpenLogin<Resource>, 'tokens' | 'clock' | 'log' | 'lists' | 'tracker'> & {
  readonly reads: Pick<OpenLogin<Resource>['reads'], 'list'>
  readonly calls: Pick<OpenLogin<Resource>['calls'], 'of'>
}

/** The orders that a stream is compared with. */
function listedOf(login: StreamLogin, accounts: string, compareMs: number): ListedOrders {
  return {
    compareMs,
    list: async signal => (await login.reads.list(ordersOf(login), { accounts, since: null }, signal)).known,
    order(account, order, signal) {
      const read = (reply: HttpReply) => (isAbsent(reply) ? null : parsed(oneOrder(reply)[0] ?? {}, login))
      return login.calls.of('orders').read(ordersRequest({ accounts: account, since: null }, order), read, signal, { also: [400, 404] })
    }
  }
}

export function accountStreams(
  { apiUrl, heartbeatMs, compareMs }: { readonly apiUrl: string; readonly heartbeatMs: number; readonly compareMs: number },
  login: StreamLogin,
  accounts: Pick<KnownAccounts, 'streamed' | 'isOurs' | 'forbid'>
): readonly AccountStreamDefinition[] {
  const { log, lists } = login
  const parse = (wire: Wire) => parsed(wire, login)
  const ours = (what: string, account: string, message: AccountMessage): readonly AccountMessage[] => {
    if (accounts.isOurs(account)) return [message]
    log.error(`the broker streamed ${what} of an account that is not of this login; dropped`, { account })
    return []
  }
  const reading =
    (record: (wire: Wire) => readonly AccountMessage[]) =>
    (frame: string): readonly AccountMessage[] => {
      const wire = readObject(frame, 'line')
      const line = lineOf(wire)
      switch (line.type) {
        case 'record':
          return record(wire)
        case 'end_snapshot':
          return [{ type: 'live', heartbeatMs }]
        case 'over':
          if (line.error?.code === 'Forbidden') accounts.forbid(field(wire, 'AccountID'))
          return [{ type: 'over', cause: line.error === null ? 'lost' : 'refused', reason: line.reason }]
        default:
          return [line]
      }
    }
  const readOrder = reading(wire => {
    const order = lists.orNull('orders', wire, parse)
    // An order that cannot be read must not hide the others.
    if (order === null) return [{ type: 'gap', cause: 'malformed', reason: 'an order was streamed in a form that cannot be read' }]
    return ours('an order', order.report.brokerAccountId, { type: 'order_totals', order })
  })
  const readPosition = reading(wire => {
    const brokerPositionId = text(wire, 'PositionID', 64)
    if (field(wire, 'Deleted') === true) return [{ type: 'position', brokerPositionId, position: null }]
    const position = lists.orNull('positions', wire, parsePosition)
    const account = position?.brokerAccountId ?? text(wire, 'AccountID', 64)
    const message: AccountMessage =
      position === null ? { type: 'position_left_out', account, brokerPositionId } : { type: 'position', brokerPositionId, position }
    return ours('a position', account, message)
  })
  const stream = (kind: 'orders' | 'positions'): AccountStreamDefinition => ({
    async begin(signal) {
      const streamed = await accounts.streamed(signal)
      const address = await lineAddress(linesAt(apiUrl), `/brokerage/stream/accounts/${streamed}/${kind}`, login, signal)
      if (kind === 'positions') return { ...address, read: readPosition }
      return { ...address, read: readOrder, listed: listedOf(login, streamed, compareMs) }
    },
    orderSpacingMs: ORDER_SPACING_MS,
    accountSpacingMs: BALANCES_SPACING_MS
  })
  return [stream('orders'), stream('positions')]
}

/** What a line is, before it is known to be a record of the stream. */
export type ParsedLine =
  | { readonly type: 'record' | 'end_snapshot' }
  | { readonly type: 'heartbeat' }
  /** `error` null: the broker closes the stream as it does now and then. */
  | { readonly type: 'over'; readonly error: BrokerError | null; readonly reason: string }

const GO_AWAY: ParsedLine = { type: 'over', error: null, reason: 'the broker is about to close the stream' }

/** @throws Malformed for an unknown stream state */
export function lineOf(wire: Wire): ParsedLine {
  if (field(wire, 'Heartbeat') !== undefined) return { type: 'heartbeat' }
  if (field(wire, 'StreamStatus') !== undefined) {
    const status = text(wire, 'StreamStatus', 32)
    if (status === 'EndSnapshot') return { type: 'end_snapshot' }
    if (status === 'GoAway') return GO_AWAY
    throw new Malformed('StreamStatus', 'EndSnapshot or GoAway', status)
  }
  const code = field(wire, 'Error')
  if (typeof code !== 'string' || code === '') return { type: 'record' }
  if (code === 'GoAway') return GO_AWAY
  const error = errorOf(wire)
  return { type: 'over', error, reason: `the broker ended the stream: ${error.message}` }
}
