// The form of everything the market data stream sends, by the specification: which fields, and what they hold. Nothing more may be in a
// message.
import type { Body } from './api.ts'

export const CHANNELS = ['bars', 'trades', 'quotes', 'depth', 'options_chain'] as const
export type Channel = (typeof CHANNELS)[number]

export const ERROR_CODES = [
  'auth_error',
  'not_authenticated',
  'invalid_request',
  'unknown_action',
  'unsupported_channel',
  'unsupported_symbol',
  'unsupported_interval',
  'unsupported_session',
  'subscription_not_found',
  'subscription_limit',
  'connection_broken',
  'broker_unavailable',
  'internal_error'
] as const

export const GREEKS = ['delta', 'gamma', 'theta', 'rho', 'vega', 'iv'] as const
const CHAIN_FIGURES = [
  ...['ask', 'bid', 'mid', 'ask_size', 'bid_size', 'close', 'high', 'last', 'low', 'net_change', 'net_change_pct', 'open'],
  ...['previous_close', 'volume']
]

const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const NANOS = /^[1-9]\d{17,18}$/
const SUB_ID = /^[1-9]\d*$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const OCC = /^[A-Z]{1,6}\d{6}[CP]\d{8}$/

type Fits = (value: Body) => boolean
/** Every field of a message. `undefined` is asked too: it fits where the field may be absent. */
type Form = Readonly<Record<string, Fits>>

const is =
  (...values: readonly unknown[]): Fits =>
  value =>
    values.includes(value)
const like =
  (pattern: RegExp): Fits =>
  value =>
    typeof value === 'string' && pattern.test(value)
const text: Fits = value => typeof value === 'string'
const nonEmpty: Fits = value => typeof value === 'string' && value.length > 0
const decimal = like(DECIMAL)
const nanos = like(NANOS)
const orNull =
  (fits: Fits): Fits =>
  value =>
    value === null || fits(value)
const optional =
  (fits: Fits): Fits =>
  value =>
    value === undefined || fits(value)
const listOf =
  (fits: Fits): Fits =>
  value =>
    Array.isArray(value) && value.every(fits)
const of =
  (form: Form): Fits =>
  value =>
    complaint(form, value) === null

const subscription = { broker: is('SANDBOX', 'ALPACA', 'TRADIER', 'TRADESTATION'), channel: is(...CHANNELS), symbol: nonEmpty }
const bar = { o: decimal, h: decimal, l: decimal, c: decimal, v: decimal, ts: nanos, st: is('c', 'o') }
const level: Fits = value =>
  Array.isArray(value) &&
  value.length === 5 &&
  value.every(text) &&
  decimal(value[0]) &&
  decimal(value[1]) &&
  /^\d*$/.test(value[2]) &&
  nanos(value[4])
const leg = of({
  sym: like(OCC),
  strike_price: decimal,
  expiration: like(/^\d{4}-\d{2}-\d{2}T00:00:00(?:\.0+)?Z$/),
  option_type: is('Put', 'Call'),
  asset_type: nonEmpty
})

const REPLIES: Readonly<Record<string, Form>> = {
  auth_success: { type: text, message: nonEmpty, request_id: nonEmpty, session_id: like(UUID), version: is('v1.0') },
  subscription_success: {
    ...{ type: text, message: nonEmpty, ...subscription, request_id: nonEmpty, sub_id: like(SUB_ID) },
    ...{ interval: optional(nonEmpty), session: optional(nonEmpty) }
  },
  unsubscription_success: {
    ...{ type: text, message: nonEmpty, ...subscription, request_id: nonEmpty, sub_id: like(SUB_ID) },
    ...{ interval: text, session: text }
  },
  subscriptions_list: {
    type: text,
    subscriptions: listOf(of({ ...subscription, interval: text, session: text, sub_id: like(SUB_ID) })),
    request_id: nonEmpty,
    version: is('v1.0')
  },
  snapshot_response: {
    ...{ type: text, request_id: nonEmpty, symbol: nonEmpty, data_type: is('bars'), interval: nonEmpty, start_time: nonEmpty },
    ...{ end_time: nonEmpty, data: listOf(of({ ...bar, ev: is('b'), sym: nonEmpty })) }
  },
  error: {
    type: text,
    error_code: is(...ERROR_CODES),
    request_id: orNull(nonEmpty),
    message: nonEmpty,
    sub_ids: optional(listOf(like(SUB_ID)))
  }
}

const chain: Form = {
  ...Object.fromEntries(GREEKS.map(name => [name, optional(orNull(decimal))])),
  ...Object.fromEntries(CHAIN_FIGURES.map(name => [name, orNull(decimal)])),
  side: is('Put', 'Call', 'Both'),
  legs: value => listOf(leg)(value) && value.length > 0,
  sub_id: like(SUB_ID)
}

const UPDATES: Readonly<Record<Channel, Form>> = {
  bars: { ...bar, sub_id: like(SUB_ID) },
  trades: { p: decimal, s: decimal, n: text, ts: nanos, sub_id: like(SUB_ID) },
  quotes: { bp: orNull(decimal), bs: orNull(decimal), ap: orNull(decimal), as: orNull(decimal), ts: nanos, sub_id: like(SUB_ID) },
  depth: { type: is('depth_update'), b: listOf(level), a: listOf(level), sub_id: like(SUB_ID) },
  options_chain: chain
}

/** Whether a message is an update, by its form alone. */
export function isUpdate(message: Body): boolean {
  return message !== null && typeof message === 'object' && (message.type === 'depth_update' || !('type' in message))
}

/** What is wrong with a reply or an error, or null. */
export function replyComplaint(message: Body): string | null {
  const type: unknown = message?.type
  const form = typeof type === 'string' && Object.hasOwn(REPLIES, type) ? REPLIES[type] : undefined
  if (form === undefined) return `no such message: ${JSON.stringify(type)}`
  const wrong = complaint(form, message)
  if (wrong !== null) return wrong
  if (type === 'subscription_success') {
    const { channel } = message
    if ('interval' in message !== (channel === 'bars')) return 'interval belongs to bars alone'
    if ('session' in message !== (channel === 'bars' || channel === 'trades')) return 'session belongs to bars and trades alone'
  }
  if (type === 'error' && 'sub_ids' in message !== (message.error_code === 'broker_unavailable' && message.request_id === null))
    return 'sub_ids belongs to interruptions alone'
  return null
}

/** What is wrong with an update of `channel`, or null. `greeks` is whether they were asked for; the rest is the same for all. */
export function updateComplaint(channel: Channel, message: Body, greeks: boolean): string | null {
  const wrong = complaint(UPDATES[channel], message)
  if (wrong !== null) return wrong
  if (channel === 'options_chain') {
    const present = GREEKS.filter(name => name in message)
    if (present.length !== (greeks ? GREEKS.length : 0)) return `greeks ${greeks ? 'were' : 'were not'} asked for, found ${present}`
    const [first] = message.legs
    if (message.side !== first.option_type) return 'side is not that of the contract'
  }
  return null
}

function complaint(form: Form, value: Body): string | null {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return `not an object: ${JSON.stringify(value)}`
  const surplus = Object.keys(value).filter(name => !Object.hasOwn(form, name))
  if (surplus.length > 0) return `fields that the specification does not have: ${surplus}`
  const wrong = Object.entries(form).filter(([name, fits]) => !fits(value[name]))
  return wrong.length === 0 ? null : wrong.map(([name]) => `${name}: ${JSON.stringify(value[name])?.slice(0, 300)}`).join(', ')
}
