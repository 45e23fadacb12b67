// One life of the service's process: from a start to an orderly end, or to the moment in which it is killed and nothing of it goes on.
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { AccountEvent, Broker, BrokerDefinition } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

export class Life {
  readonly #death = new AbortController()

  get isOver(): boolean {
    return this.#death.signal.aborted
  }

  /** Pending calls never resolve, and later calls have no effect. */
  kill(): void {
    this.#death.abort(new Error('the process was killed'))
  }

  /** What `work` gives while the process lives. */
  async lived<T>(work: Promise<T>): Promise<T> {
    try {
      const value = await work
      return this.isOver ? await never() : value
    } catch (cause) {
      if (this.isOver) return await never()
      throw cause
    }
  }

  /** The same clock as this process sees it: its wall clock may be wrong, and its monotonic one began with it. */
  clock(clock: Clock, skewMs: () => number): Clock {
    const bornAt = clock.monotonicMs() - 1_000
    return {
      now: (): Timestamp => timestampOfMs(epochMs(clock.now()) + skewMs()),
      monotonicMs: () => clock.monotonicMs() - bornAt,
      sleep: (ms, signal) => this.lived(clock.sleep(ms, this.#either(signal))),
      alarm: (ms, ring) => clock.alarm(ms, () => !this.isOver && ring()),
      nextTurn: () => this.lived(clock.nextTurn())
    }
  }

  /** The broker as this process reaches it. A command that has left it arrives even when nothing is left to receive the answer. */
  broker(definition: BrokerDefinition): BrokerDefinition {
    return { ...definition, open: credentials => this.#session(definition.open(credentials)) }
  }

  #session(session: Broker): Broker {
    const alive = <Given extends readonly unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) => {
      return (...given: Given): Promise<Answer> => (this.isOver ? never() : this.lived(ask(...given)))
    }
    return {
      capabilities: session.capabilities,
      market: session.market,
      accounts: alive(signal => session.accounts(signal)),
      balances: alive((account, signal) => session.balances(account, signal)),
      positions: alive((account, signal) => session.positions(account, signal)),
      orders: alive((account, since, signal) => session.orders(account, since, signal)),
      transactions: alive((account, from, to, signal) => session.transactions(account, from, to, signal)),
      findOrder: alive((key, signal) => session.findOrder(key, signal)),
      preview: alive((order, signal) => session.preview(order, signal)),
      submit: alive((order, signal) => session.submit(order, signal)),
      replace: alive((request, signal) => session.replace(request, signal)),
      cancel: alive((request, signal) => session.cancel(request, signal)),
      events: signal => this.#events(session, signal),
      [Symbol.asyncDispose]: alive(async () => await session[Symbol.asyncDispose]())
    }
  }

  async *#events(session: Broker, signal: AbortSignal): AsyncGenerator<AccountEvent, void, undefined> {
    const events = session.events(this.#either(signal))
    for await (const event of events) {
      if (this.isOver) break
      yield event
    }
    if (this.isOver) await never()
  }

  #either(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#death.signal : AbortSignal.any([signal, this.#death.signal])
  }
}

/** A promise of its own each time: a shared promise would leak its waiters. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}
