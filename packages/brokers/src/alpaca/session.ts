/**
 * The protocol of Alpaca's account stream. It reports orders only and has no sequence numbers: positions and balances are read when an order fills and now and
 * then, and an execution that is missing is noticed by the order's total at the next one. A connection that has gone silent is noticed by the open orders.
 */

import { compare, type Decimal, minus, ZERO } from '@trunkline/core/domain/decimal'
import { isOpen } from '@trunkline/core/domain/order'
import { type AccountEvent, BrokerFault, type OrderReport } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import { BoundedMap } from '../kit/bounded-cache.ts'
import { accountState } from '../kit/event-streams.ts'
import { readJson } from '../kit/json.ts'
import { displayTextOrNull, field, nested, object, text, textOrNull, type Wire } from '../kit/parse.ts'
import { Refetch } from '../kit/refetch.ts'
import type { Connection, ProtocolFactory, StreamMessage, StreamProtocol } from '../kit/stream-protocol.ts'
import type { TokenSource } from '../kit/tokens.ts'
import type { UnknownValueCounter } from '../kit/unknown-values.ts'
import { usableToken } from '../kit/usable-token.ts'
import { EVENTS } from './enums.ts'
import type { AccountHello } from './login.ts'
import { OpenOrders } from './open-orders.ts'
import { type Execution, filledQuantity, isLegOfMultiLeg, isMultiLeg, nestedOrders, parseExecution, parseOrder } from './orders.ts'

/** Positions and balances are read this often even when nothing was reported: prices move them, and money comes and goes without an order. */
const REREAD_MS = 60_000
/** From one read of what changed to the next of the same. */
const SPACING_MS = 500
const ORDERS_MAX = 10_000

/** What the session reads beside what the stream sends. */
export interface AccountReads {
  account(signal: AbortSignal): Promise<string>
  order(account: string, brokerOrderId: string, signal: AbortSignal): Promise<OrderReport | null>
  /** Single orders that are open, whatever they hang on. */
  openOrders(account: string, signal: AbortSignal): Promise<readonly OrderReport[]>
  positions(account: string, signal: AbortSignal): Promise<AccountEvent>
  balances(account: string, signal: AbortSignal): Promise<AccountEvent>
}

export interface StreamOptions {
  readonly url: string
  /** A ping so often. */
  readonly pingMs: number
  readonly tokens: TokenSource
  readonly hello: (token: string) => AccountHello
  readonly clock: Clock
  readonly log: Log
  readonly unknownValues: UnknownValueCounter
  readonly reads: AccountReads
}

export class AlpacaStream implements ProtocolFactory<AccountEvent> {
  readonly stateOf = accountState
  readonly #options: StreamOptions
  /** The token that the last connection was refused with. */
  #refused: string | null = null
  /** The form of the login that Alpaca takes. */
  #form: keyof AccountHello = 'auth'

  constructor(options: StreamOptions) {
    this.#options = options
  }

  async begin(signal: AbortSignal): Promise<AlpacaProtocol> {
    const refused = this.#refused
    this.#refused = null
    const token = await usableToken(this.#options.tokens, signal, refused)
    const account = await this.#options.reads.account(signal)
    return new AlpacaProtocol(this.#options, {
      token,
      account,
      form: this.#form,
      useForm: form => {
        this.#form = form
      },
      refused: () => {
        this.#refused = token
      }
    })
  }
}

/** How far an order was known to be. */
interface OrderSnapshot extends Pick<OrderReport, 'status' | 'brokerStatus' | 'updatedAt'> {
  readonly filled: Decimal
}

interface ProtocolParts {
  readonly token: string
  readonly account: string
  readonly form: keyof AccountHello
  /** The form of the next login. */
  readonly useForm: (form: keyof AccountHello) => void
  /** The credentials were refused. */
  readonly refused: () => void
}

/** One connection. */
class AlpacaProtocol implements StreamProtocol<AccountEvent> {
  readonly url: string
  /** Their paper accounts send JSON in binary frames. */
  readonly textIsBinary = true
  readonly pingMs: number
  readonly #options: StreamOptions
  readonly #parts: ProtocolParts
  readonly #reading: Refetch
  readonly #openOrders: OpenOrders
  #connection: Connection<AccountEvent> | null = null
  #form: keyof AccountHello
  #isAuthorized = false
  #isLive = false
  /** Each order as it was last published. */
  readonly #orders = new BoundedMap<OrderSnapshot>(ORDERS_MAX)
  /** Which order a leg belongs to. */
  readonly #legs = new BoundedMap<string>(ORDERS_MAX)

  constructor(options: StreamOptions, parts: ProtocolParts) {
    this.#options = options
    this.#parts = parts
    this.#form = parts.form
    this.url = options.url
    this.pingMs = options.pingMs
    this.#openOrders = new OpenOrders({
      clock: options.clock,
      read: signal => options.reads.openOrders(parts.account, signal),
      sent: brokerOrderId => this.#orders.get(brokerOrderId)
    })
    this.#reading = new Refetch({
      clock: options.clock,
      spacingMs: SPACING_MS,
      read: (what, signal) => this.#read(what, signal),
      failed: (what, error) => this.#failed(what, error)
    })
  }

  get hello(): readonly string[] {
    return [this.#login()]
  }

  opened(connection: Connection<AccountEvent>): void {
    this.#connection = connection
  }

  onFrame(frame: string): readonly StreamMessage<AccountEvent>[] {
    const message = object(readJson(frame), 'message')
    const stream = field(message, 'stream')
    switch (stream) {
      case 'authorization':
        return this.#authorized(nested(message, 'data'))
      case 'listening':
        return this.#listening(nested(message, 'data'))
      case 'trade_updates':
        return this.#update(nested(message, 'data'))
      default:
        if (stream === 'error' || field(message, 'action') === 'error') return this.#fellBack() ? [] : [refusedBecause(message)]
        // Something new beside what was requested.
        text(message, 'stream', 64)
        return []
    }
  }

  async maintain({ signal }: Connection<AccountEvent>): Promise<number> {
    if (this.#isLive) for (const what of ['positions', 'balances']) this.#reading.changed(what)
    this.#isLive = true
    await this.#openOrders.check(signal)
    return REREAD_MS
  }

  ended(): Promise<void> {
    // It ended before the login was accepted, perhaps over the form of it.
    if (!this.#isAuthorized) this.#parts.useForm(this.#form === 'auth' ? 'authenticate' : 'auth')
    return this.#reading[Symbol.asyncDispose]()
  }

  #authorized(data: Wire): readonly StreamMessage<AccountEvent>[] {
    if (text(data, 'status', 64) !== 'authorized') {
      if (this.#fellBack()) return []
      this.#parts.refused()
      return [{ type: 'over', cause: 'token', reason: 'Alpaca did not take the credentials for the account stream' }]
    }
    this.#isAuthorized = true
    const notice = displayTextOrNull(data, 'message')
    if (notice !== null) this.#options.log.info('Alpaca accepted the login of the account stream with a notice', { notice })
    this.#connection?.send(JSON.stringify({ action: 'listen', data: { streams: ['trade_updates'] } }))
    return []
  }

  #login(): string {
    return JSON.stringify(this.#options.hello(this.#parts.token)[this.#form])
  }

  /** A refusal of the newer form may be one of the form alone: the older one is sent, and its answer counts. */
  #fellBack(): boolean {
    if (this.#isAuthorized || this.#form === 'authenticate') return false
    this.#form = 'authenticate'
    this.#parts.useForm('authenticate')
    this.#connection?.send(this.#login())
    return true
  }

  #listening(data: Wire): readonly StreamMessage<AccountEvent>[] {
    const streams = field(data, 'streams')
    if (Array.isArray(streams) && streams.includes('trade_updates')) return [{ type: 'live', heartbeatMs: this.pingMs }]
    return [{ type: 'over', cause: 'refused', reason: 'Alpaca does not stream the orders of this account' }]
  }

  #update(data: Wire): readonly StreamMessage<AccountEvent>[] {
    const { unknownValues } = this.#options
    try {
      return this.#apply(data)
    } catch (error) {
      // The order has to be requested; the connection itself is good.
      if (unknownValues.countIfUnknown(error)) return [{ type: 'gap', cause: 'malformed', reason: error.message }]
      throw error
    }
  }

  #apply(data: Wire): readonly StreamMessage<AccountEvent>[] {
    const order = nested(data, 'order')
    const kind = this.#options.unknownValues.or(data, 'event', EVENTS, 'status')
    if (kind === 'execution') for (const what of ['positions', 'balances']) this.#reading.changed(what)
    if (isLegOfMultiLeg(order)) return this.#leg(order)
    const id = text(order, 'id')
    if (isMultiLeg(order)) {
      const legs = nestedOrders(order)
      if (legs.length === 0) return this.#lookUp(id, 'changed')
      for (const leg of legs) this.#legs.put(text(leg, 'id'), id)
    }
    if (kind === 'refusal') return this.#released(order)
    const execution = kind === 'execution' ? parseExecution(data) : null
    return this.#inOrder(parseOrder(order, this.#parts.account, execution), filledQuantity(order), execution)
  }

  /**
   * Nothing numbers the messages. One that is older than what was published only adds its execution, if it has one; an execution that leaves a gap to what
   * was filled before it says that another one is missing.
   */
  #inOrder(report: OrderReport, filled: Decimal, execution: Execution | null): readonly StreamMessage<AccountEvent>[] {
    const { brokerOrderId, status, brokerStatus, updatedAt } = report
    const before = this.#orders.get(brokerOrderId)
    const isOld = before !== undefined && (updatedAt < before.updatedAt || isBehind(status, before.status))
    if (before === undefined || !isOld)
      this.#orders.put(brokerOrderId, { status, brokerStatus, updatedAt, filled: larger(filled, before?.filled) })
    if (isOld && execution === null) return []
    const reported = isOld ? { ...report, status: before.status, brokerStatus: before.brokerStatus } : report
    const event: StreamMessage<AccountEvent> = { type: 'event', event: { type: 'order', report: reported } }
    return execution !== null && before !== undefined && isBeyond(filled, execution, before)
      ? [{ type: 'gap', cause: 'missing', reason: 'an order has filled by more than was reported' }, event]
      : [event]
  }

  /** A leg's own message says nothing of its multi-leg order, which has to be requested. */
  #leg(order: Wire): readonly StreamMessage<AccountEvent>[] {
    const parent = this.#legs.get(text(order, 'id'))
    return parent === undefined ? [] : this.#lookUp(parent, 'changed')
  }

  /** A cancel or a replacement was refused, so the order is live again, and what was to replace it is not: both are requested. */
  #released(order: Wire): readonly StreamMessage<AccountEvent>[] {
    for (const key of ['replaced_by', 'replaces'] as const) {
      const other = textOrNull(order, key)
      if (other !== null) this.#lookUp(other, 'released')
    }
    return this.#lookUp(text(order, 'id'), 'released')
  }

  #lookUp(brokerOrderId: string, why: 'changed' | 'released'): readonly StreamMessage<AccountEvent>[] {
    this.#reading.changed(`${why} ${brokerOrderId}`)
    return []
  }

  async #read(what: string, signal: AbortSignal): Promise<void> {
    const { reads } = this.#options
    const { account } = this.#parts
    if (what === 'positions' || what === 'balances') {
      this.#connection?.emit({ type: 'event', event: await reads[what](account, signal) })
      return
    }
    const [why, brokerOrderId = ''] = what.split(' ')
    const report = await reads.order(account, brokerOrderId, signal)
    if (report === null) return
    const { status, brokerStatus, updatedAt, filledTotal } = report
    if (report.legs === null) this.#orders.put(brokerOrderId, { status, brokerStatus, updatedAt, filled: filledTotal?.quantity ?? ZERO })
    const isReleased = why === 'released' && (report.status === 'working' || report.status === 'partially_filled')
    this.#connection?.emit({ type: 'event', event: { type: 'order', report: isReleased ? { ...report, releases: true } : report } })
  }

  #failed(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : 'unknown'
    if (error instanceof BrokerFault && error.kind === 'credentials_rejected') {
      this.#connection?.emit({ type: 'over', cause: 'token', reason, fault: error })
      return
    }
    this.#options.log.warn('what an account stream reported could not be read', { what: what.split(' ')[0] ?? '', reason })
    this.#connection?.emit({ type: 'gap', cause: 'missing', reason: `what changed could not be read: ${reason}` })
  }
}

/** Whether an order cannot have come from the one status to the other: it began before it worked, and nothing follows its end. */
function isBehind(status: OrderReport['status'], known: OrderReport['status']): boolean {
  return (status === 'pending' && known !== 'pending') || (!isOpen(known) && status !== known)
}

/** Whether the order had filled more before this execution than was reported. */
function isBeyond(filled: Decimal, { quantity }: Execution, before: OrderSnapshot): boolean {
  return filled !== before.filled && compare(minus(filled, quantity), before.filled) > 0
}

function larger(a: Decimal, b: Decimal | undefined): Decimal {
  if (a === b) return a
  return b !== undefined && compare(b, a) > 0 ? b : a
}

function refusedBecause(message: Wire): StreamMessage<AccountEvent> {
  const data = field(message, 'data')
  const detail = data === undefined || data === null ? null : displayTextOrNull(object(data, 'data'), 'error_message')
  return { type: 'over', cause: 'refused', reason: `Alpaca refused the account stream: ${detail ?? 'without a reason'}` }
}
