/** Alpaca's account stream: orders of the one account with their executions, without numbers, and a login of which two forms exist. */

import { Malformed } from '@trunkline/core/domain/malformed'
import type { OrderReport } from '@trunkline/core/ports/broker'
import { BoundedMap } from '../kit/bounded-cache.ts'
import { readJson } from '../kit/json.ts'
import { decimal, displayTextOrNull, field, nested, object, text, textOrNull, type Wire } from '../kit/parse.ts'
import type { AccountMessage } from '../kit/runtime/account-messages.ts'
import type { AccountConnection, AccountStreamDefinition } from '../kit/runtime/account-stream.ts'
import type { OpenLogin } from '../kit/runtime/definition.ts'
import type { Connection } from '../kit/stream-protocol.ts'
import { usableToken } from '../kit/tokens.ts'
import { isLegOfMultiLeg, isMultiLeg, nestedOrders, parseExecution, parseOrder } from './codecs.ts'
import type { Resource } from './quirks.ts'

/**
 * Positions and balances are read this often even when nothing was reported: prices move them, and money comes and goes without an order.
 */
const REREAD_MS = 60_000
/** From one read of what changed to the next of the same. */
const SPACING_MS = 500
const LEGS_MAX = 10_000

/** What happened to an order. */
const EVENTS: Readonly<Record<string, 'execution' | 'refusal' | 'status'>> = {
  ...{ fill: 'execution', partial_fill: 'execution', order_cancel_rejected: 'refusal', order_replace_rejected: 'refusal' },
  ...{ pending_new: 'status', accepted: 'status', new: 'status', held: 'status', pending_review: 'status', restated: 'status' },
  ...{ canceled: 'status', expired: 'status', replaced: 'status', rejected: 'status', done_for_day: 'status', calculated: 'status' },
  ...{ stopped: 'status', suspended: 'status', partially_filled: 'status', pending_cancel: 'status', pending_replace: 'status' }
}

/**
 * The first message of a stream: `auth`, and for the account stream an older form. Alpaca asks for `auth` and calls `authenticate`
 * deprecated (recorded 2026-09-18). Its documentation has `auth` for keys; for OAuth it is that of the market streams, and where it is
 * refused the older form decides.
 */
export type Hello = (token: string) => { readonly auth: object; readonly authenticate: object }

export interface AccountStreamOptions extends Pick<OpenLogin<Resource>, 'tokens' | 'unknownValues' | 'log'> {
  readonly url: string
  /** Alpaca is silent while nothing happens: a ping this often, and two without an answer mean a dead connection. */
  readonly pingMs: number
  readonly hello: Hello
  /** The account of the login. @throws BrokerFault */
  readonly account: (signal: AbortSignal) => Promise<string>
  /** Single orders that are open, whatever they hang on. @throws BrokerFault */
  readonly openOrders: (account: string, signal: AbortSignal) => Promise<readonly OrderReport[]>
}

/** What connections of a stream pass on to the next one. */
interface Memory {
  /** The form of the login that Alpaca takes. */
  form: 'auth' | 'authenticate'
  /** The token that the last connection was refused with. */
  refused: string | null
}

export function accountStream(options: AccountStreamOptions): AccountStreamDefinition {
  const memory: Memory = { form: 'auth', refused: null }
  return {
    async begin(signal) {
      const { refused } = memory
      memory.refused = null
      const token = await usableToken(options.tokens, signal, refused)
      return new AlpacaConnection(options, memory, { token, account: await options.account(signal) }).protocol
    },
    orderSpacingMs: SPACING_MS,
    accountSpacingMs: SPACING_MS
  }
}

class AlpacaConnection {
  readonly #options: AccountStreamOptions
  readonly #memory: Memory
  readonly #login: { readonly token: string; readonly account: string }
  /** Which order a leg belongs to. */
  readonly #legs = new BoundedMap<string>(LEGS_MAX)
  #form: Memory['form']
  #connection: Connection<never> | null = null
  #isAuthorized = false

  constructor(options: AccountStreamOptions, memory: Memory, login: { readonly token: string; readonly account: string }) {
    this.#options = options
    this.#memory = memory
    this.#login = login
    this.#form = memory.form
  }

  get protocol(): AccountConnection {
    const { url, pingMs, openOrders } = this.#options
    const { account } = this.#login
    return {
      url,
      pingMs,
      // Paper accounts send JSON in binary frames.
      textIsBinary: true,
      hello: [this.#hello()],
      opened: connection => {
        this.#connection = connection
      },
      read: frame => this.#read(frame),
      followed: { account, everyMs: REREAD_MS, openOrders: signal => openOrders(account, signal) },
      ended: () => {
        // It ended before the login was accepted, perhaps over the form of it.
        if (!this.#isAuthorized) this.#memory.form = this.#form === 'auth' ? 'authenticate' : 'auth'
      }
    }
  }

  /** Amounts are text, which is read faster. Where one is a JSON number it is read as it was written. */
  #read(frame: string): readonly AccountMessage[] {
    try {
      return this.#messages(object(readJson(frame), 'message'))
    } catch (error) {
      if (error instanceof Malformed) return this.#messages(object(readJson(frame, { numbers: 'text' }), 'message'))
      throw error
    }
  }

  #messages(message: Wire): readonly AccountMessage[] {
    const stream = field(message, 'stream')
    if (stream === 'trade_updates') return this.#updates(nested(message, 'data'))
    if (stream === 'authorization') return this.#authorized(nested(message, 'data'))
    if (stream === 'listening') return this.#listening(nested(message, 'data'))
    if (stream === 'error' || field(message, 'action') === 'error') return this.#fellBack() ? [] : [refusal(message)]
    // Something new beside what was requested.
    text(message, 'stream', 64)
    return []
  }

  #hello(): string {
    return JSON.stringify(this.#options.hello(this.#login.token)[this.#form])
  }

  #authorized(data: Wire): readonly AccountMessage[] {
    if (text(data, 'status', 64) !== 'authorized') {
      if (this.#fellBack()) return []
      this.#memory.refused = this.#login.token
      return [{ type: 'over', cause: 'token', reason: 'Alpaca did not take the credentials for the account stream' }]
    }
    this.#isAuthorized = true
    const notice = displayTextOrNull(data, 'message')
    if (notice !== null) this.#options.log.info('Alpaca accepted the login of the account stream with a notice', { notice })
    this.#connection?.send(JSON.stringify({ action: 'listen', data: { streams: ['trade_updates'] } }))
    return []
  }

  /** A refusal of the newer form may be one of the form alone: the older one is sent, and its answer counts. */
  #fellBack(): boolean {
    if (this.#isAuthorized || this.#form === 'authenticate') return false
    this.#form = 'authenticate'
    this.#memory.form = 'authenticate'
    this.#connection?.send(this.#hello())
    return true
  }

  #listening(data: Wire): readonly AccountMessage[] {
    const streams = field(data, 'streams')
    if (Array.isArray(streams) && streams.includes('trade_updates')) return [{ type: 'live', heartbeatMs: this.#options.pingMs }]
    return [{ type: 'over', cause: 'refused', reason: 'Alpaca does not stream the orders of this account' }]
  }

  #updates(data: Wire): readonly AccountMessage[] {
    try {
      return this.#update(data)
    } catch (error) {
      // The order has to be requested; the connection itself is good.
      if (this.#options.unknownValues.countIfUnknown(error)) return [{ type: 'gap', cause: 'malformed', reason: error.message }]
      throw error
    }
  }

  #update(data: Wire): readonly AccountMessage[] {
    const { account } = this.#login
    const order = nested(data, 'order')
    const kind = this.#options.unknownValues.or(data, 'event', EVENTS, 'status')
    if (kind !== 'execution') return this.#orderMessages(order, kind, null)
    const messages = this.#orderMessages(order, kind, data)
    messages.push({ type: 'changed', account, what: 'both' })
    return messages
  }

  /** `executed`: the message with the execution, if it has one. */
  #orderMessages(order: Wire, kind: 'execution' | 'refusal' | 'status', executed: Wire | null): AccountMessage[] {
    const id = text(order, 'id')
    if (isLegOfMultiLeg(order)) {
      // A leg's own message says nothing of its multi-leg order.
      const parent = this.#legs.get(id)
      return parent === undefined ? [] : [this.#hint(parent)]
    }
    if (isMultiLeg(order)) {
      const legs = nestedOrders(order)
      if (legs.length === 0) return [this.#hint(id)]
      for (const leg of legs) this.#legs.put(text(leg, 'id'), id)
    }
    if (kind === 'refusal') {
      // The order is live again, and what was to replace it is not.
      const others = ['replaced_by', 'replaces'].flatMap(key => textOrNull(order, key) ?? [])
      return [...others, id].map(each => ({ ...this.#hint(each), releases: true }))
    }
    const execution = executed === null ? null : parseExecution(executed)
    const report = parseOrder(order, this.#login.account, execution)
    return [{ type: 'order_update', report, filled: decimal(order, 'filled_qty'), executed: execution?.quantity ?? null }]
  }

  #hint(brokerOrderId: string): Extract<AccountMessage, { readonly type: 'order_hint' }> {
    return { type: 'order_hint', account: this.#login.account, brokerOrderId }
  }
}

function refusal(message: Wire): AccountMessage {
  const data = field(message, 'data')
  const detail = data === undefined || data === null ? null : displayTextOrNull(object(data, 'data'), 'error_message')
  return { type: 'over', cause: 'refused', reason: `Alpaca refused the account stream: ${detail ?? 'without a reason'}` }
}
