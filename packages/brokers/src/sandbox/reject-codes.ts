/** Mapping of the sandbox's refusal codes to the core's. */

import type { RejectCode } from '@trunkline/core/domain/vocabulary'
import { lookUp } from '../kit/parse.ts'

const CODES = {
  insufficient_buying_power: 'insufficient_funds',
  insufficient_cash: 'insufficient_funds',
  insufficient_position: 'insufficient_position',
  // Nothing is held that could be sold, where selling short is not possible.
  short_sale_not_allowed: 'insufficient_position',
  instrument_not_permitted: 'not_permitted',
  unsupported_side: 'not_permitted',
  unsupported_time_in_force: 'not_permitted',
  scope_missing: 'not_permitted',
  unknown_symbol: 'unknown_symbol',
  expired_contract: 'not_tradable',
  no_price: 'not_tradable',
  halted: 'not_tradable',
  market_closed: 'market_closed',
  bad_price: 'price_out_of_range',
  price_out_of_band: 'price_out_of_range',
  bad_tick: 'tick_size',
  bad_quantity: 'quantity_invalid',
  bad_notional: 'quantity_invalid',
  quantity_already_filled: 'quantity_invalid',
  too_many_open_orders: 'risk_rejected'
} as const satisfies Readonly<Record<string, RejectCode>>

export function rejectCodeOf(code: string): RejectCode {
  return lookUp<RejectCode>(CODES, code) ?? 'other'
}
