// What operators send to change the sandbox: forms of our own, each member bounded.
import { type Decimal, isDecimal } from '@trunkline/core/domain/decimal'
import { ServiceError } from '@trunkline/core/domain/errors'
import {
  CLOSE_CODE_EXPECTED,
  CLOSE_CODES,
  crossing,
  FAULT_KINDS,
  misorder,
  PHASES,
  STREAM_FAULTS,
  STREAM_KINDS,
  USERNAME_EXPECTED,
  USERNAME_PATTERN
} from '@trunkline/sandbox/control-terms'
import Type, { type Static } from 'typebox'
import { decimal, oneOf, ticket, timestamp } from '../../wire/common.ts'
import { ACCOUNT_KINDS, ASSET_CLASSES, sandboxName } from './crypto-name.ts'

const DAY_MS = 86_400_000
const DAYS_MAX = 31
const LEVELS_MAX = 20

const maybe = Type.Optional
const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, pattern: '^\\P{C}*$', description })
const count = (minimum: number, maximum: number, description: string) => Type.Integer({ minimum, maximum, description })
export const symbol = text(40, 'As the sandbox writes it, which is as this API does.')
const username = Type.String({ pattern: USERNAME_PATTERN, 'x-expected': USERNAME_EXPECTED })

export const faultTicket = ticket('SandboxFaultTicket', {
  on: Type.String({
    pattern: '^(?:\\*|[a-z]{1,20}(?:\\.(?:[a-z_]{1,20}|\\*))?)$',
    description: 'An operation of the sandbox, `orders.submit` for example; a trailing `*` stands for the rest.',
    'x-expected': 'an operation such as "orders.submit", "orders.*" or "*"'
  }),
  do: oneOf(FAULT_KINDS, { description: 'What happens to the requests. Each is described in the API of the sandbox.' }),
  times: maybe(count(1, 1_000_000, 'How many requests it hits; absent: until it is cleared.')),
  skip: maybe(count(0, 1_000_000, 'How many matching requests pass before.')),
  login: maybe({ ...username, description: 'Only requests of this practice user.' }),
  symbol: maybe({ ...symbol, description: 'Only requests about this symbol.' }),
  client_order_id: maybe(text(64, 'Only requests about the order with this id at the broker.')),
  after: maybe(Type.Boolean({ description: 'It takes effect after the operation was carried out.' })),
  ms: maybe(count(0, DAY_MS, 'Milliseconds; `delay`, `slow` and `hide` need it.')),
  status: maybe(count(200, 599, 'The status of the answer; `status` needs it.')),
  retry_after: maybe(count(0, 86_400, 'Seconds in the answer’s `Retry-After`.')),
  code: maybe(text(64, 'The error’s code.')),
  message: maybe(text(500, 'The error’s message.'))
})

export const clockTicket = ticket('SandboxClockTicket', {
  set: maybe({ ...timestamp, description: `The sandbox’s time from now on. It only goes forward, ${DAYS_MAX} days at most.` }),
  advance_ms: maybe(count(0, DAYS_MAX * DAY_MS, `How far it jumps, in milliseconds; ${DAYS_MAX} days at most.`)),
  frozen: maybe(Type.Boolean({ description: 'Whether it stands still.' }))
})

const level = ticket('SandboxLevel', { price: decimal, quantity: decimal })
const levels = (side: string) => maybe(Type.Array(level, { maxItems: LEVELS_MAX, description: `All ${side} shown, the best first.` }))
export const priceTicket = ticket('SandboxPriceTicket', {
  symbol,
  price: maybe({ ...decimal, description: 'From which it moves on.' }),
  halted: maybe(Type.Boolean({ description: 'Whether its trading is halted.' })),
  bids: levels('bids'),
  asks: levels('asks')
})

export const marketTicket = ticket('SandboxMarketTicket', {
  phase: maybe(oneOf(PHASES, { description: '`calendar`: its own hours again.' })),
  class: maybe(oneOf(ASSET_CLASSES, { description: 'Of what the phase is; shares if absent.' })),
  paused: maybe(Type.Boolean({ description: 'Whether no prices come.' }))
})

export const dividendTicket = ticket('SandboxDividendTicket', {
  symbol,
  per_share: { ...decimal, description: 'Paid now to every holder.' }
})

const kind = oneOf(ACCOUNT_KINDS)
const cash = maybe({ ...decimal, description: 'The first deposit in US dollars; 100000 if absent.' })
const accountName = maybe(text(64, 'Shown to the user.'))
export const accountTicket = ticket('SandboxAccountTicket', { kind, cash, name: accountName })
export const loginTicket = ticket('SandboxLoginTicket', {
  username: maybe({ ...username, description: 'Absent: the sandbox chooses.' }),
  password: maybe(text(128, 'For practice only; absent: the sandbox chooses.')),
  name: maybe(text(64, 'Of the person.')),
  accounts: maybe(Type.Array(accountTicket, { minItems: 1, maxItems: 20, description: 'Absent: margin, cash and crypto.' }))
})
export const grantsTicket = ticket('SandboxGrantsTicket', {
  refresh_only: maybe(Type.Boolean({ description: 'Access tokens live on, and the next refresh fails.' }))
})
export const tokensTicket = ticket('SandboxTokensTicket', {
  access_seconds: maybe(count(1, 86_400, 'How long access tokens live from now on.')),
  refresh_grace_ms: maybe(count(0, 3_600_000, 'How long a used refresh token still works, in milliseconds.'))
})

const closeCode = Type.Union(
  CLOSE_CODES.map(([from, to]) => Type.Integer({ minimum: from, maximum: to, 'x-expected': CLOSE_CODE_EXPECTED })),
  { description: 'With `drop`: the code of the close; absent: the connection is cut.', 'x-expected': CLOSE_CODE_EXPECTED }
)
export const streamsTicket = ticket('SandboxStreamsTicket', {
  do: oneOf(STREAM_FAULTS, { description: '`normal` ends all others. Each is described in the API of the sandbox.' }),
  on: maybe(oneOf(STREAM_KINDS, { description: 'Which streams; those of accounts if absent.' })),
  broker: maybe(
    oneOf(['alpaca', 'tradier', 'tradestation'], { description: 'The streams of this broker in the sandbox; absent: its own.' })
  ),
  login: maybe({ ...username, description: 'Only those of this practice user.' }),
  code: maybe(closeCode),
  ms: maybe(count(0, DAY_MS, 'With `mute` and `delay`: milliseconds.')),
  times: maybe(count(1, 1_000_000, 'With `duplicate` and `lose`: how many events.')),
  window: maybe(count(2, 1_000, 'With `reorder`: how many events at a time.'))
})

export const fillTicket = ticket('SandboxFillTicket', {
  quantity: { ...decimal, description: 'What fills now, at the order’s own limit.' }
})
export const resetTicket = ticket('SandboxResetTicket', {
  confirm: Type.Literal('reset', { description: 'That it is meant: practice users that were created, orders and balances go.' })
})

type Levels = readonly Static<typeof level>[] | undefined

/** @throws ServiceError field_invalid if the clock is to be set and moved at once, or is set farther than it may be moved */
export function demandJump(set: string, advanceMs: number | undefined, sandboxTime: string): void {
  if (advanceMs !== undefined) throw refusedField('advance_ms', 'cannot be sent with set: send one of them')
  if (Date.parse(set) - Date.parse(sandboxTime) <= DAYS_MAX * DAY_MS) return
  throw refusedField('set', `must be at most ${DAYS_MAX} days after the sandbox’s time, which is ${sandboxTime}`)
}

function refusedField(path: string, message: string): ServiceError {
  return new ServiceError('field_invalid', `${path} ${message}.`, { details: [{ path, message }] })
}

/**
 * The body of a price as the sandbox reads it.
 * @throws ServiceError field_invalid for a book that crosses, or whose levels are not best first
 */
export function priceBody({ price, halted, bids, asks }: Static<typeof priceTicket>): Readonly<Record<string, unknown>> {
  const message = crossing(pricesOf(bids), pricesOf(asks))
  if (message !== null) throw refusedField('bids', message)
  for (const [side, levels] of [['bids', bids] as const, ['asks', asks] as const]) {
    const fault = misorder(side, pricesOf(levels))
    if (fault !== null) throw refusedField(side, fault)
  }
  return { price, halted, bids: levelsBody(bids), asks: levelsBody(asks) }
}

/** What has the form of a decimal and too many digits is refused by the sandbox. */
function pricesOf(levels: Levels): readonly Decimal[] {
  return (levels ?? []).map(({ price }) => price).filter(isDecimal)
}

function levelsBody(levels: Levels): readonly (readonly [string, string])[] | undefined {
  return levels?.map(({ price, quantity }) => [price, quantity])
}

/** The body of an account as the sandbox reads it. */
export function accountBody({ kind: named, cash: first, name }: Static<typeof accountTicket>): Readonly<Record<string, unknown>> {
  return { kind: sandboxName(named), cash: first, name }
}
