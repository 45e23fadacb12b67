/** What the receiver of webhooks does for the bench. */
export type ReceiverRequests = {
  /** Opens the endpoints: one answers at once, one never, and at the third address nobody listens. */
  readonly open: { readonly input: null; readonly output: Readonly<Record<EndpointKind, string>> }
  /** What the endpoint that answers has received since the last call. */
  readonly received: { readonly input: null; readonly output: Received }
}

export const ENDPOINT_KINDS = ['answering', 'silent', 'refusing'] as const
export type EndpointKind = (typeof ENDPOINT_KINDS)[number]

export interface Received {
  /** When an order was first said to have a status, by `order_id status`. Milliseconds of `sharedNow`. */
  readonly arrivals: ReadonlyMap<string, number>
  readonly messages: number
  readonly events: number
  /** Connections that were opened to it. */
  readonly connections: number
  /** Events that were not the next one of their user. */
  readonly outOfOrder: number
}
