/** The event streams of a login. */

import type { AccountEvent, Broker } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

interface Stream {
  close(): Promise<void>
}

/** How a stream is ended, and how it reports its end. */
export interface StreamEnd {
  readonly signal: AbortSignal
  /** To be called once it is over. */
  readonly ended: () => void
}

/** The open streams of one login; they end with it. */
export class EventStreams implements AsyncDisposable {
  readonly #open = new Set<Stream>()
  #isClosed = false

  /** A stream that is opened after the login was closed ends at once. */
  open<S extends Stream>(signal: AbortSignal, begin: (end: StreamEnd) => S): S {
    const stream: S = begin({
      signal: this.#isClosed ? AbortSignal.abort(new Error('the login was closed')) : signal,
      ended: () => void this.#open.delete(stream)
    })
    this.#open.add(stream)
    return stream
  }

  /** Resolves once all are over. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#open].map(stream => stream.close()))
  }
}

/** For streams that only report that something changed: reads the current state, as an event with the time of the request. */
export function readsAsEvents(broker: Pick<Broker, 'positions' | 'balances'>, clock: Pick<Clock, 'monotonicMs'>) {
  const positions = async (brokerAccountId: string, signal: AbortSignal): Promise<AccountEvent> => {
    const requestedMs = clock.monotonicMs()
    return { type: 'positions', brokerAccountId, positions: { ...(await broker.positions(brokerAccountId, signal)), requestedMs } }
  }
  const balances = async (brokerAccountId: string, signal: AbortSignal): Promise<AccountEvent> => {
    const requestedMs = clock.monotonicMs()
    return { type: 'balances', brokerAccountId, balances: { ...(await broker.balances(brokerAccountId, signal)), requestedMs } }
  }
  return { positions, balances }
}

/**
 * Key of the account state that an event carries in full: of several waiting ones only the newest counts. Null: every event must be
 * delivered.
 */
export function accountState(event: AccountEvent): string | null {
  return event.type === 'positions' || event.type === 'balances' ? `${event.type} ${event.brokerAccountId}` : null
}
