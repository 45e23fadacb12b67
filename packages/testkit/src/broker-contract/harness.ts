/** What a broker's tests bring so that the contract's cases can be run against it. */

import type { Decimal } from '@trunkline/core/domain/decimal'
import type { OrderTicket } from '@trunkline/core/domain/order'
import type { Instrument, OrderType, Side, TimeInForce } from '@trunkline/core/domain/vocabulary'
import type { Broker, BrokerDefinition, Credentials, CredentialsHolder } from '@trunkline/core/ports/broker'

/** Everything one case needs, created fresh for it. Disposing it leaves nothing behind. */
export interface BrokerHarness extends AsyncDisposable {
  readonly definition: BrokerDefinition
  /** A fresh login with at least one account per offered instrument, funded, without orders or positions. */
  readonly broker: Broker
  readonly venue: Venue
  /** The fresh login's credentials as it was opened with. */
  readonly credentials: Credentials
  /** The same credentials, their access token past its end and the refresh token good. */
  expired(credentials: Credentials): Credentials
  /** One more session of the definition; the harness disposes it. */
  open(holder: CredentialsHolder): Broker
  /** A session whose broker cannot be reached at all. */
  openUnreachable(): Broker
  /** Where the broker is, and a session for which it is elsewhere: at the case's tampering proxy. */
  readonly address: string
  openAt(address: string): Broker
  /** Makes a page of the list of orders one that leads to itself, over and over; whatever else it is given stays as it is. */
  endless(answer: unknown): unknown
  /** What to trade for an instrument. */
  sample(instrument: Instrument): Sample
  /** What a 429 to a submit proves at this broker. */
  readonly throttledSubmit: 'refused' | 'unknown'
  /** How long a case waits for a gap to be reported before it fails. */
  readonly patienceMs: number
}

export interface Sample {
  readonly brokerAccountId: string
  readonly symbol: string
  /** A small order of this kind that stays open: far from the market. Null where the broker cannot hold such an order open. */
  resting(type: OrderType, tif: TimeInForce, side: Side): OrderTicket | null
  /** Times in force that the broker takes for no short sale; left out where it takes all. */
  readonly neverShort?: readonly TimeInForce[]
  /** Fills at once. */
  readonly marketable: OrderTicket
  /** Sells what {@link marketable} bought. */
  readonly closing: OrderTicket
  /** The broker refuses it: it costs more than the account has. */
  readonly tooDear: OrderTicket
  /** A market order by amount; null where the broker takes none. */
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
  /** Does it, and the answer never comes. */
  | { readonly kind: 'lose_answer' }
  /** Cuts the connection before anything is done. */
  | { readonly kind: 'reset' }
  /** Does it at once and answers that much later. */
  | { readonly kind: 'answer_late'; readonly ms: number }
  /** Answers with an error status, having done it or not. */
  | { readonly kind: 'status'; readonly status: number; readonly done: boolean; readonly retryAfterS?: number }
  /** Does it, and answers with a success whose body is something else. */
  | { readonly kind: 'html' | 'truncate' | 'garbage' }
  /** Refuses an order with this message; `later`: takes it first. */
  | { readonly kind: 'refuse'; readonly message: string; readonly later?: true }
  /** Notes a cancel or a replacement at once, and carries it out that much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Places the order that was only to be previewed, and answers as to an order. */
  | { readonly kind: 'place' }
  /** Takes an order that stays hidden for that long, or until it is revealed, and does not answer. */
  | { readonly kind: 'hide'; readonly ms: number }

/** Faults of account streams; `mute`, `duplicate`, `reorder` and `lose` last until `normal`. */
export type InjectedStreamFault = 'drop' | 'mute' | 'duplicate' | 'reorder' | 'lose' | 'garble' | 'normal'

/** The other side, on command. Everything concerns the case's own login only. */
export interface Venue {
  /** Makes the next `times` requests of an operation go wrong; the `skip` before them are served. */
  injectFault(on: VenueOperation, how: InjectedFault, times?: number, skip?: number): Promise<void>
  clearFaults(): Promise<void>
  stream(fault: InjectedStreamFault): Promise<void>
  /** Requests of an operation that arrived since the case began. */
  requests(on: VenueOperation): Promise<number>
  /** How often a client order id arrived, and how many orders the venue made of it. */
  orderCounts(brokerClOrdId: string): Promise<{ readonly received: number; readonly accepted: number }>
  /** The venue's own text of an answer, unparsed. */
  raw(on: 'balances' | 'positions' | 'orders' | 'transactions', brokerAccountId: string): Promise<string>
  /** An order that did not come through us; gives the venue's id. */
  placeElsewhere(brokerAccountId: string, ticket: OrderTicket): Promise<string>
  /** Executes so much of an open order, whatever its price; gives nothing back until that is done. */
  fill(brokerOrderId: string, quantity: Decimal): Promise<void>
  /** Shows an order that `hide` keeps out of sight. */
  reveal(brokerClOrdId: string): Promise<void>
  /** Ends an open order from the venue's side, as an operator or a corporate action would. */
  end(brokerOrderId: string): Promise<void>
  /** Reads as an order id of this venue, and is none's. */
  readonly unknownOrderId: string
  /** Ends the login's grant: the access token at once, the refresh token too. */
  revoke(): Promise<void>
  /** The access token lives on, the next refresh is refused. */
  revokeRefresh(): Promise<void>
  /** A user at the authorization address who approves or declines; returns the address the browser is sent back to. */
  walkLogin(authorizationUrl: string, decision: 'approve' | 'decline'): Promise<string>
}
