import type { IncomingMessage } from 'node:http'
import type { Allowance } from '../auth/rate-limit.ts'

/** What another node vouches for about a request that it took from a client and passed on to this one. */
export interface PassedOn {
  /** The client's address. */
  readonly address: string
  /** What is left of the platform's rate limit on the node that took the request. It is counted there only. */
  readonly platformAllowance: Allowance
}

/** Response headers between nodes. The client never sees them. */
export const BETWEEN_NODES = {
  /** Nothing was done for the request: this node does not own the user, or is shutting down. */
  notExecuted: 'trunkline-not-executed',
  /** Refused because of the user's rate limit, so it must not count for the platform. */
  userLimited: 'trunkline-user-limited'
} as const

const requests = new WeakMap<IncomingMessage, PassedOn>()

/** Called by the listener between nodes, which no client reaches, before the request is routed. */
export function markPassedOn(request: IncomingMessage, passedOn: PassedOn): void {
  requests.set(request, passedOn)
}

/** Undefined for a request that came from a client. */
export function passedOnOf(request: IncomingMessage): PassedOn | undefined {
  return requests.get(request)
}
