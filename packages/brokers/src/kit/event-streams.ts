/** Event streams of logins, as brokers have them. */

import type { AccountEvent, Broker } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

interface Stream {
  close(): Promise<void>
}

/** What a stream is given to end by. */
export interface StreamEnd {
  readonly signal: AbortSignal
  /** To be called once it is over. */
  readonly ended: () => void
}

/** Those that one login has open: they end with it. */
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

/** For streams that only say that something changed: reads the current state, as an event with the time of the request. */
export function readsAsEvents(broker: Pick<Broker, 'positions' | 'balances'>, clock: Pick<Clock, 'monotonicMs'>) {
  return {
    positions: async (brokerAccountId: string, signal: AbortSignal): Promise<AccountEvent> => {
      const requestedMs = clock.monotonicMs()
      return { type: 'positions', brokerAccountId, positions: { ...(await broker.positions(brokerAccountId, signal)), requestedMs } }
    },
    balances: async (brokerAccountId: string, signal: AbortSignal): Promise<AccountEvent> => {
      const requestedMs = clock.monotonicMs()
      return { type: 'balances', brokerAccountId, balances: { ...(await broker.balances(brokerAccountId, signal)), requestedMs } }
    }
  }
}

/** Which state of an account an event carries in full, so that of several that wait the last is enough; null for what may not be left out. */
export function accountState(event: AccountEvent): string | null {
  return event.type === 'positions' || event.type === 'balances' ? `${event.type} ${event.brokerAccountId}` : null
}
