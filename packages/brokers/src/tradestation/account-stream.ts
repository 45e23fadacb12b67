/** TradeStation's account streams, of orders and of positions: all that is there first, and then what changes. Pure but for the address. */

import { Malformed } from '@trunkline/core/domain/malformed'
import { readObject } from '../kit/json.ts'
import { field, text, type Wire } from '../kit/parse.ts'
import type { AccountMessage, AccountStreamDefinition } from '../kit/runtime/account-stream.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import { type LineStreamsDefinition, lineAddress } from '../kit/runtime/line-streams.ts'
import type { ListedOrders, WholeOrder } from '../kit/runtime/order-totals.ts'
import { parsePosition } from './codecs.ts'
import type { stateOf } from './orders.ts'
import { type BrokerError, errorOf, isTokenRefused, type Resource, resetMs } from './quirks.ts'

/** The broker's heartbeat is every 5 s; a little more, so that two missed ones are not the network's jitter. */
export const HEARTBEAT_MS = 6_000
/** From one comparison of the orders with their list to the next, unless the settings say otherwise. */
export const COMPARE_MS = 15_000
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

export interface AccountStreamOptions {
  readonly apiUrl: string
  readonly heartbeatMs: number
  readonly compareMs: number
  /** @throws Malformed */
  readonly parse: (wire: Wire) => WholeOrder
  /** Today's orders of several accounts, all pages. */
  readonly list: (accounts: string, signal: AbortSignal) => Promise<readonly WholeOrder[]>
  readonly order: ListedOrders['order']
}

type StreamLogin = Pick<OpenLogin<Resource>, 'tokens' | 'clock' | 'log' | 'lists'>
type KnownAccounts = Pick<ReturnType<typeof stateOf>['accounts'], 'streamed' | 'isOurs' | 'forbid'>

export function accountStreams(
  { apiUrl, heartbeatMs, compareMs, parse, list, order }: AccountStreamOptions,
  login: StreamLogin,
  accounts: KnownAccounts
): readonly AccountStreamDefinition[] {
  const { log, lists } = login
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
    const parsed = lists.orNull('orders', wire, parse)
    // An order that cannot be read must not hide the others.
    if (parsed === null) return [{ type: 'gap', cause: 'malformed', reason: 'an order was streamed in a form that cannot be read' }]
    return ours('an order', parsed.report.brokerAccountId, { type: 'order_totals', order: parsed })
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
      return { ...address, read: readOrder, listed: { compareMs, order, list: own => list(streamed, own) } }
    },
    orderSpacingMs: ORDER_SPACING_MS,
    accountSpacingMs: BALANCES_SPACING_MS
  })
  return [stream('orders'), stream('positions')]
}

/** What a line is, before it is known to be a record of the stream. */
export type ParsedLine =
  | { readonly type: 'record' }
  | { readonly type: 'heartbeat' }
  | { readonly type: 'end_snapshot' }
  /** `error` null: the broker closes the stream as it does now and then. */
  | { readonly type: 'over'; readonly error: BrokerError | null; readonly reason: string }

const RECORD: ParsedLine = { type: 'record' }
const HEARTBEAT: ParsedLine = { type: 'heartbeat' }
const END_SNAPSHOT: ParsedLine = { type: 'end_snapshot' }
const GO_AWAY: ParsedLine = { type: 'over', error: null, reason: 'the broker is about to close the stream' }

/** @throws Malformed for an unknown stream state */
export function lineOf(wire: Wire): ParsedLine {
  if (field(wire, 'Heartbeat') !== undefined) return HEARTBEAT
  if (field(wire, 'StreamStatus') !== undefined) {
    const status = text(wire, 'StreamStatus', 32)
    if (status === 'EndSnapshot') return END_SNAPSHOT
    if (status === 'GoAway') return GO_AWAY
    throw new Malformed('StreamStatus', 'EndSnapshot or GoAway', status)
  }
  const code = field(wire, 'Error')
  if (typeof code !== 'string' || code === '') return RECORD
  if (code === 'GoAway') return GO_AWAY
  const error = errorOf(wire)
  return { type: 'over', error, reason: `the broker ended the stream: ${error.message}` }
}
