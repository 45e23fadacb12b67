/** One contract of an options chain in the core's terms; what the sandbox leaves out (mid, changes) is computed here. Pure. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import { isPlainDecimal, isPlainText } from '@trunkline/core/domain/fast/scan'
import { difference, middle, percentage } from '@trunkline/core/domain/fast/small-sums'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { ChainEntry, Greeks } from '@trunkline/core/domain/market/records'
import type { Day } from '@trunkline/core/domain/timestamp'

export interface RawOption {
  readonly u?: unknown
  readonly s?: unknown
  readonly right?: unknown
  readonly strike?: unknown
  readonly expiration?: unknown
  readonly b?: unknown
  readonly bz?: unknown
  readonly a?: unknown
  readonly az?: unknown
  readonly last?: unknown
  readonly o?: unknown
  readonly h?: unknown
  readonly l?: unknown
  readonly c?: unknown
  readonly pc?: unknown
  readonly v?: unknown
  readonly delta?: unknown
  readonly gamma?: unknown
  readonly theta?: unknown
  readonly vega?: unknown
  readonly rho?: unknown
  readonly iv?: unknown
}

const SYMBOL_MAX = 32

/** @throws Malformed */
export function chainEntry(item: RawOption, expiration: Day): ChainEntry {
  const bid = decimal(item.b, 'b')
  const ask = decimal(item.a, 'a')
  const last = decimal(item.last, 'last')
  const previousClose = decimal(item.pc, 'pc')
  const netChange = last === null || previousClose === null ? null : difference(last, previousClose)
  return {
    symbol: symbol(item.s),
    right: right(item.right),
    strike: strike(item.strike),
    expiration,
    bid,
    bidSize: decimal(item.bz, 'bz'),
    ask,
    askSize: decimal(item.az, 'az'),
    mid: bid === null || ask === null ? null : middle(bid, ask),
    last,
    open: decimal(item.o, 'o'),
    high: decimal(item.h, 'h'),
    low: decimal(item.l, 'l'),
    close: decimal(item.c, 'c'),
    previousClose,
    netChange,
    netChangePct: netChange === null || previousClose === null ? null : percentage(netChange, previousClose),
    volume: decimal(item.v, 'v'),
    greeks: greeks(item)
  }
}

function greeks(item: RawOption): Greeks | null {
  const delta = decimal(item.delta, 'delta')
  const gamma = decimal(item.gamma, 'gamma')
  const theta = decimal(item.theta, 'theta')
  const rho = decimal(item.rho, 'rho')
  const vega = decimal(item.vega, 'vega')
  const iv = decimal(item.iv, 'iv')
  const isNothing = delta === null && gamma === null && theta === null && rho === null && vega === null && iv === null
  return isNothing ? null : { delta, gamma, theta, rho, vega, iv }
}

function symbol(value: unknown): string {
  if (typeof value === 'string' && value !== '' && isPlainText(value, SYMBOL_MAX)) return value
  throw new Malformed('s', 'the symbol of an option', value)
}

function right(value: unknown): 'C' | 'P' {
  if (value === 'call') return 'C'
  if (value === 'put') return 'P'
  throw new Malformed('right', 'call or put', value)
}

function strike(value: unknown): Decimal {
  if (isPlainDecimal(value)) return value
  throw new Malformed('strike', 'a plain decimal string', value)
}

function decimal(value: unknown, what: string): Decimal | null {
  if (value === null) return null
  if (isPlainDecimal(value)) return value
  throw new Malformed(what, 'a plain decimal string or null', value)
}
