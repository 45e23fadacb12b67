/**
 * What dialects need of the running brokerage, and no more: customers, the state of their accounts, the market, orders, and what a server
 * needs.
 */

import type { DialectBrokerage } from '../../brokerage/dialect.ts'

type Part<Name extends keyof DialectBrokerage, Members extends keyof DialectBrokerage[Name]> = Pick<DialectBrokerage[Name], Members>

/** The brokerage as a dialect sees it. */
export interface BrokerageView
  extends Pick<DialectBrokerage, 'client' | 'heartbeatMs' | 'inFolder' | 'newId' | 'oauth' | 'onError' | 'realNow' | 'seed'> {
  readonly clock: Part<'clock', 'now'>
  readonly customers: Part<'customers', 'account' | 'accountsOf' | 'all' | 'byId' | 'check'>
  readonly state: StateView
  /** Follows what happens to orders and accounts; `isHidden`: an order that fault injection hides. */
  readonly publisher: Part<'publisher', 'follow' | 'isHidden'>
  readonly orderService: Part<'orderService', 'amend' | 'cancel' | 'preview' | 'submit'>
  readonly contracts: Part<'contracts', 'bring' | 'find'>
  readonly market: DialectBrokerage['market']
  readonly driver: Part<'driver', 'lastQuote'>
  /** Subscriptions to the market data of a symbol. */
  readonly taps: Part<'taps', 'add'>
  readonly counters: Part<'counters', 'answer' | 'fault' | 'receive' | 'request'>
  readonly faults: Part<'faults', 'none' | 'take'>
  readonly responseWriter: Part<'responseWriter', 'serve'>
  readonly timers: Part<'timers', 'later' | 'wait'>
}

type Engine = DialectBrokerage['state']['engine']

/** Orders, positions and balances. */
export interface StateView extends Part<'state', 'order' | 'overlay'> {
  readonly engine: Pick<
    Engine,
    'account' | 'balance' | 'instrument' | 'market' | 'order' | 'orderId' | 'orders' | 'position' | 'positions' | 'transactions'
  >
}
