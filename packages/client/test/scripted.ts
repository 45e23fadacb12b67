// A service that answers from a script, and a clock on which waits take no time: for tests of what the client does, attempt by attempt.
import assert from 'node:assert/strict'
import { type NewOrder, type Order, Trunkline, TrunklineError, type TrunklineOptions, type TrunklineUser } from '../src/index.ts'

export const SECRETS = { clientSecret: 'sk_the-secret-of-the-platform', userSecret: 'us_the-secret-of-the-user' }
export const NEW_YORK_NOON_MS = Date.parse('2026-11-24T17:00:00Z')
export const ACCOUNT = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
export const ORDER_ID = '01a1fc41-07d8-7000-8a63-5c2f1e0d9b72'

export interface Sent {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  /** The parsed body. */
  readonly body: Readonly<Record<string, unknown>> | null
  readonly signal: AbortSignal | null
}

/** What becomes of a request: an answer, or a failure that is thrown. */
export type Step = (sent: Sent) => Response | Promise<Response>

export interface Script {
  readonly options: TrunklineOptions
  readonly sent: readonly Sent[]
  /** Every wait, in milliseconds. */
  readonly waits: readonly number[]
  readonly clock: { ms: number }
  readonly trunkline: Trunkline
  readonly user: TrunklineUser
}

/** A client whose requests meet these steps, one after the other. One more request than steps fails the test. */
export function script(steps: readonly Step[], more: Partial<TrunklineOptions> = {}): Script {
  const sent: Sent[] = []
  const waits: number[] = []
  const clock = { ms: NEW_YORK_NOON_MS }
  const options: TrunklineOptions = {
    ...{ baseUrl: 'https://trunkline.example', clientId: 'pk_platform', clientSecret: SECRETS.clientSecret },
    now: () => clock.ms,
    random: () => 0.5,
    sleep: async ms => {
      waits.push(ms)
      clock.ms += ms
    },
    fetch: async (input, init = {}) => {
      const request: Sent = {
        method: init.method ?? 'GET',
        url: new URL(String(input)),
        headers: new Headers(init.headers),
        body: typeof init.body === 'string' ? JSON.parse(init.body) : null,
        signal: init.signal ?? null
      }
      const step = steps[sent.length]
      sent.push(request)
      assert.ok(step !== undefined, `a request that the script does not have: ${request.method} ${request.url}`)
      return step(request)
    },
    ...more
  }
  const trunkline = new Trunkline(options)
  return { options, sent, waits, clock, trunkline, user: trunkline.user({ userId: 'ada', userSecret: SECRETS.userSecret }) }
}

/** Like the service, it gives back the id of the request. */
export function answer(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Step {
  return sent => {
    const own = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': idOf(sent) }
    return new Response(JSON.stringify(body), { status, headers: { ...own, ...headers } })
  }
}

export function problem(status: number, code: string, more: object = {}, headers: Readonly<Record<string, string>> = {}): Step {
  return sent => answer({ code, message: `A ${code}.`, request_id: idOf(sent), ...more }, status, headers)(sent)
}

export function idOf({ headers }: Sent): string {
  return headers.get('x-request-id') ?? ''
}

/** The connection breaks as undici reports it. */
export function broken(code = 'ECONNRESET'): Step {
  return () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(`read ${code}`), { code }) })
  }
}

export const ticket: NewOrder = {
  ...{ account_id: ACCOUNT, cl_order_id: 'rebalance-1', broker: 'SANDBOX', side: 'BUY', order_type: 'LMT', order_tif: 'DAY' },
  ...{ symbol: 'AAPL', order_qty: '10', order_limit_price: '187.5' }
}

/** The order that the ticket makes, as the service shows it. */
export function order(more: Partial<Order> = {}): Order {
  return {
    ...{
      order_id: ORDER_ID,
      cl_order_id: 'rebalance-1',
      user_id: 'ada',
      connection_id: ACCOUNT,
      account_id: ACCOUNT,
      account_number: 'SB1'
    },
    ...{ platform: 'SANDBOX', broker: 'SANDBOX', normalized_status: 'working', broker_status: 'open', broker_message: null },
    ...{ reject_code: null, submission: { state: 'acknowledged', since: '2026-11-24T17:00:00.000000Z', attempts: 1, method: 'reply' } },
    ...{ side: 'BUY', order_qty: '10', order_notional: null, filled_qty: '0', average_fill_price: null, order_type: 'LMT' },
    ...{ broker_order_type: 'limit', order_tif: 'DAY', order_limit_price: '187.50', stop_price: null, symbol: 'AAPL', instrument: 'STK' },
    ...{ exec_dest: null, trading_day: '2026-11-24', entry_time: '2026-11-24T17:00:00.100000Z', last_exec_time: null },
    ...{ last_modified_time: '2026-11-24T17:00:00.200000Z', system_time: '2026-11-24T17:00:00.200000Z', fills: [], legs: null },
    ...{ replaces_order_id: null, replaced_by_order_id: null, previously_filled_qty: null, revision: 2 },
    ...more
  }
}

export function pageOf(...orders: readonly Order[]): Step {
  return answer({ data: orders, next_cursor: null, prev_cursor: null })
}

/** The error of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<TrunklineError> {
  const error = await call.then(
    () => assert.fail('the call succeeded'),
    cause => cause
  )
  assert.ok(error instanceof TrunklineError, String(error))
  return error
}
