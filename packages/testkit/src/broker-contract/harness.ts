/** The parts that a broker's tests supply to run the contract's cases. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Instrument, OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { Broker, BrokerDefinition, Credentials, CredentialsHolder } from '@trunkline/core/ports/broker'

/** Everything that one case needs, created for it. Disposing it leaves nothing behind. */
export interface BrokerHarness extends AsyncDisposable {
  readonly definition: BrokerDefinition
  /** A fresh login with at least one account per offered instrument, funded, without orders or positions. */
  readonly broker: Broker
  readonly venue: Venue
  /** The credentials that the new login was opened with. */
  readonly credentials: Credentials
  /** The same credentials with an expired access token and a valid refresh token. */
  expired(credentials: Credentials): Credentials
  /** One more session of the definition; the harness disposes it. */
  open(holder: CredentialsHolder): Broker
  /** A session whose broker cannot be reached at all. */
  openUnreachable(): Broker
  /** The broker's address, and a session that reaches it through the case's tampering proxy. */
  readonly address: string
  openAt(address: string): Broker
  /** Makes a page of the list of orders link to itself; other answers are unchanged. */
  endless(answer: unknown): unknown
  /** Sample orders for an instrument. */
  sample(instrument: Instrument): Sample
  /** What a 429 to a submission proves at this broker. */
  readonly throttledSubmit: 'refused' | 'unknown'
  /** How long a case waits for a gap to be reported before it fails. */
  readonly patienceMs: number
}

export interface Sample {
  readonly brokerAccountId: string
  readonly symbol: string
  /** A small order of this kind that stays open: far from the market. Null where the broker cannot hold such an order open. */
  resting(type: OrderType, tif: TimeInForce, side: Side): OrderTicket | null
  /** Times in force that the broker refuses for short sales; absent if it accepts all. */
  readonly neverShort?: readonly TimeInForce[]
  /** Fills at once. */
  readonly marketable: OrderTicket
  /** Sells what {@link marketable} bought. */
  readonly closing: OrderTicket
  /** An order that the broker refuses because it costs more than the account has. */
  readonly tooDear: OrderTicket
  /** A market order by amount; null if the broker accepts none. */
  readonly notional: OrderTicket | null
  /** Another price for {@link resting} limit orders, still far from the market. */
  readonly otherLimit: Decimal
}

export type VenueOperation =
  | 'accounts'
  | 'balances'
  | 'positions'
  | 'orders'
  | 'find'
  | 'transactions'
  | 'submit'
  | 'preview'
  | 'replace'
  | 'cancel'
  | 'token'

export type InjectedFault =
  /** Acts, and never answers. */
  | { readonly kind: 'lose_answer' }
  /** Cuts the connection before acting. */
  | { readonly kind: 'reset' }
  /** Acts at once, and answers after this time. */
  | { readonly kind: 'answer_late'; readonly ms: number }
  /** Answers with an error status, after acting or without. */
  | { readonly kind: 'status'; readonly status: number; readonly done: boolean; readonly retryAfterS?: number }
  /** Acts, and answers with a success and another body. */
  | { readonly kind: 'html' | 'truncate' | 'garbage' }
  /** Answers a list with the record that contains this text unreadable: its values are objects, or it is `as`. */
  | { readonly kind: 'spoil'; readonly record: string; readonly as?: unknown }
  /** Refuses an order with this message; `later`: after accepting it. */
  | { readonly kind: 'refuse'; readonly message: string; readonly later?: true }
  /** Accepts a cancel or a replacement at once, and executes it after this time. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Places an order that should only be previewed, and answers as to an order. */
  | { readonly kind: 'place' }
  /** Accepts an order that stays hidden for this time, or until it is revealed, and does not answer. */
  | { readonly kind: 'hide'; readonly ms: number }

/** Faults of account streams; `mute`, `duplicate`, `reorder` and `lose` last until `normal`. */
export type InjectedStreamFault = 'drop' | 'mute' | 'duplicate' | 'reorder' | 'lose' | 'garble' | 'normal'

/** Control of the broker's side. Everything concerns the case's own login only. */
export interface Venue {
  /** Injects a fault into the next `times` requests of an operation, after `skip` requests. */
  injectFault(on: VenueOperation, how: InjectedFault, times?: number, skip?: number): Promise<void>
  clearFaults(): Promise<void>
  stream(fault: InjectedStreamFault): Promise<void>
  /** Requests of an operation since the case began. */
  requests(on: VenueOperation): Promise<number>
  /** How often a client order id arrived, and how many orders it made. */
  orderCounts(brokerClOrdId: string): Promise<{ readonly received: number; readonly accepted: number }>
  /** The text of an answer, unparsed. */
  raw(on: 'balances' | 'positions' | 'orders' | 'transactions', brokerAccountId: string): Promise<string>
  /** Places an order without our service; returns the broker's id. */
  placeElsewhere(brokerAccountId: string, ticket: OrderTicket): Promise<string>
  /** Executes this quantity of an open order, whatever its price; resolves when that is done. */
  fill(brokerOrderId: string, quantity: Decimal): Promise<void>
  /** Reveals an order hidden by `hide`. */
  reveal(brokerClOrdId: string): Promise<void>
  /** Ends an open order from the broker's side, as an operator or a corporate action would. */
  end(brokerOrderId: string): Promise<void>
  /** An id in this broker's form that no order has. */
  readonly unknownOrderId: string
  /** Ends the login's grant: the access token and the refresh token at once. */
  revoke(): Promise<void>
  /** Keeps the access token valid, and refuses the next refresh. */
  revokeRefresh(): Promise<void>
  /** Approves or declines as a user at the authorization address; returns the address the browser is redirected to. */
  walkLogin(authorizationUrl: string, decision: 'approve' | 'decline'): Promise<string>
}
