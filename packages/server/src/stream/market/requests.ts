// Parses the messages of a client on the market data stream. Unknown fields are ignored: a newer client may send them.
import type { WatchRequest } from '@trunkline/core/app/market/watcher'
import { BROKER_DEFAULT } from '@trunkline/core/app/market/watcher'
import { Malformed } from '@trunkline/core/domain/malformed'
import { parseDay, type Timestamp } from '@trunkline/core/domain/timestamp'
import { MARKET_DATA_CHANNELS, type MarketDataChannel } from '@trunkline/core/domain/vocabulary'
import { parseClientTime } from '../../wire/client-time.ts'
import { DEPTH_LEVELS, type MarketErrorCode, REQUEST_ID_MAX } from '../../wire/market.ts'
import { STREAM_VERSION } from '../../wire/stream.ts'
import { type Message, shown } from '../message.ts'

/** A request that cannot be carried out; the reason may be shown. */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage'
  readonly code: MarketErrorCode

  constructor(code: MarketErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A requested subscription: what to watch, and how to show it. */
export interface Subscribe {
  readonly watch: WatchRequest
  /** Depth only: levels of each side. */
  readonly levels: number
  /** Options chains only. */
  readonly greeks: boolean
}

export interface Snapshot {
  readonly symbol: string
  readonly interval: string
  readonly start: Timestamp
  readonly end: Timestamp
}

const TEXT_MAX = 64
const TOKEN_MAX = 256

/** The request's id, which every answer carries. @throws InvalidMessage */
export function readRequestId({ request_id }: Message): string {
  if (typeof request_id === 'string' && request_id !== '' && request_id.length <= REQUEST_ID_MAX) return request_id
  throw new InvalidMessage('invalid_request', `request_id must be a string of 1 to ${REQUEST_ID_MAX} characters, was ${shown(request_id)}.`)
}

/** The access token. @throws InvalidMessage */
export function readAuthenticate({ access_token, version }: Message): string {
  if (version !== undefined && version !== null && version !== STREAM_VERSION) {
    throw new InvalidMessage('auth_error', `version must be "${STREAM_VERSION}" or left out, was ${shown(version)}.`)
  }
  if (typeof access_token === 'string' && access_token.length <= TOKEN_MAX) return access_token
  throw new InvalidMessage('auth_error', 'authenticate needs access_token, a string from GET /connections/{connection_id}/token.')
}

/** @throws InvalidMessage */
export function readSubscribe(message: Message): Subscribe {
  const channel = readChannel(message)
  const symbol = readText(message, 'symbol')
  const common = { levels: DEPTH_LEVELS.fallback, greeks: false }
  switch (channel) {
    case 'quotes':
      return { ...common, watch: { channel, symbol } }
    case 'depth':
      return { ...common, levels: readLevels(message), watch: { channel, symbol } }
    case 'trades':
      return { ...common, watch: { channel, symbol, session: readSession(message) } }
    case 'bars': {
      const interval = readText(message, 'interval')
      return { ...common, watch: { channel, symbol, interval, session: readSession(message), backfill: readBackfill(message) } }
    }
    case 'options_chain':
      return { ...common, greeks: readGreeks(message), watch: { channel, symbol, expiration: readExpiration(message) } }
  }
}

/** @throws InvalidMessage */
export function readSubId({ sub_id }: Message): string {
  if (typeof sub_id === 'string' && sub_id !== '' && sub_id.length <= TEXT_MAX) return sub_id
  throw new InvalidMessage('invalid_request', `sub_id must be the string that subscription_success gave, was ${shown(sub_id)}.`)
}

/** @throws InvalidMessage */
export function readSnapshot(message: Message): Snapshot {
  const { data_type } = message
  if (data_type !== 'bars') throw new InvalidMessage('invalid_request', `data_type must be "bars", was ${shown(data_type)}.`)
  const symbol = readText(message, 'symbol')
  const interval = readText(message, 'interval')
  const [start, end] = [readTime(message, 'start_time'), readTime(message, 'end_time')]
  if (start >= end) throw new InvalidMessage('invalid_request', `start_time must be before end_time, was ${start} with ${end}.`)
  return { symbol, interval, start, end }
}

function readChannel({ channel }: Message): MarketDataChannel {
  const known = MARKET_DATA_CHANNELS.find(word => word === channel)
  if (known !== undefined) return known
  if (typeof channel !== 'string') throw new InvalidMessage('invalid_request', `channel must be a string, was ${shown(channel)}.`)
  throw new InvalidMessage('unsupported_channel', `channel must be one of ${MARKET_DATA_CHANNELS.join(', ')}, was ${shown(channel)}.`)
}

function readText(message: Message, field: string): string {
  const value = message[field]
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX) return value
  throw new InvalidMessage('invalid_request', `${field} must be a string of 1 to ${TEXT_MAX} characters, was ${shown(value)}.`)
}

function readSession({ session }: Message): string {
  if (session === undefined || session === null) return BROKER_DEFAULT
  if (typeof session === 'string' && session.length <= TEXT_MAX) return session
  throw new InvalidMessage('invalid_request', `session must be a string or left out, was ${shown(session)}.`)
}

function readBackfill({ backfill_nbars: bars }: Message): number {
  if (bars === undefined || bars === null) return 0
  if (typeof bars === 'number' && Number.isSafeInteger(bars) && bars >= 0) return bars
  throw new InvalidMessage('invalid_request', `backfill_nbars must be a whole number from 0, was ${shown(bars)}.`)
}

function readLevels({ n_levels: levels }: Message): number {
  if (levels === undefined || levels === null) return DEPTH_LEVELS.fallback
  if (typeof levels === 'number' && Number.isInteger(levels) && levels >= 1 && levels <= DEPTH_LEVELS.most) return levels
  throw new InvalidMessage('invalid_request', `n_levels must be a whole number from 1 to ${DEPTH_LEVELS.most}, was ${shown(levels)}.`)
}

function readGreeks({ greeks }: Message): boolean {
  if (greeks === undefined || greeks === null) return false
  if (typeof greeks === 'boolean') return greeks
  throw new InvalidMessage('invalid_request', `greeks must be true or false, was ${shown(greeks)}.`)
}

function readExpiration({ expiration }: Message): string {
  return fit(() => parseDay(expiration, 'expiration'))
}

function readTime(message: Message, field: string): Timestamp {
  return fit(() => parseClientTime(message[field], field))
}

function fit<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof Malformed) throw new InvalidMessage('invalid_request', `${cause.message}.`)
    throw cause
  }
}
