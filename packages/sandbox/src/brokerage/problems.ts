/** All refusals of the sandbox: one code per cause, one table of status codes. */

import type { OrderView, RefusalCode } from '../engine/types.ts'

const OWN_STATUS = {
  bad_request: 400,
  bad_cursor: 400,
  token_missing: 401,
  token_invalid: 401,
  scope_missing: 403,
  unknown_route: 404,
  unknown_fault: 404,
  unknown_login: 404,
  order_busy: 409,
  login_taken: 409,
  order_forgotten: 410,
  too_many_symbols: 400,
  too_large: 413,
  refused_by_operator: 422,
  slow_down: 429,
  internal_error: 500
} as const

const ENGINE_STATUS = {
  unknown_account: 404,
  unknown_symbol: 422,
  unknown_order: 404,
  duplicate_account: 409,
  duplicate_client_order_id: 409,
  bad_client_order_id: 422,
  bad_instrument: 422,
  bad_legs: 422,
  expired_contract: 422,
  instrument_not_permitted: 422,
  unsupported_side: 422,
  unsupported_time_in_force: 422,
  bad_quantity: 422,
  bad_notional: 422,
  bad_price: 422,
  bad_tick: 422,
  price_out_of_band: 422,
  no_price: 422,
  market_closed: 422,
  halted: 422,
  insufficient_buying_power: 422,
  insufficient_position: 422,
  short_sale_not_allowed: 422,
  insufficient_cash: 422,
  order_not_open: 409,
  quantity_already_filled: 422,
  too_many_open_orders: 422
} as const satisfies Record<RefusalCode, number>

export const STATUS_OF = { ...OWN_STATUS, ...ENGINE_STATUS }
export type ProblemCode = keyof typeof STATUS_OF

export interface ProblemDetail {
  readonly field?: string
  /** The order concerned, as on the wire. */
  readonly order?: unknown
  /** Overrides the table. */
  readonly status?: number
  readonly retryAfter?: number
}

/** An error response. Thrown by readers and routes, turned into a response in one place. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: string
  readonly status: number
  readonly detail: ProblemDetail

  constructor(code: ProblemCode, message: string, detail: ProblemDetail = {}) {
    super(message)
    this.code = code
    this.status = detail.status ?? STATUS_OF[code]
    this.detail = detail
  }

  /** The same under another code, for faults that set a code. */
  as(code: string): Problem {
    return Object.assign(new Problem('internal_error', this.message, { ...this.detail, status: this.status }), { code })
  }
}

/** The engine's refusal in the sandbox's terms. */
export function refused(code: RefusalCode, message: string, order: unknown): Problem {
  return new Problem(code, message, { order })
}

/** Whether an order ended as a refusal that the engine kept as an order. */
export function refusalOf(order: OrderView): { readonly code: RefusalCode; readonly message: string } | undefined {
  if (order.state !== 'rejected' || order.reason === null) return undefined
  const { code, message } = order.reason
  return isRefusalCode(code) ? { code, message } : undefined
}

function isRefusalCode(code: string): code is RefusalCode {
  return Object.hasOwn(ENGINE_STATUS, code)
}
