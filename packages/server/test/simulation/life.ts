// One life of the service's process: from a start to an orderly end, or to the moment in which it is killed and nothing of it goes on.
import type { Timestamp } from '@trunkline/core/domain/timestamp'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { AccountEvent, Broker, BrokerDefinition, Outcome } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'

export class Life {
  /** Whether nothing gets from this process to the store, or to other nodes, and back. */
  isCutFromStore = false
  isCutFromNodes = false
  readonly #death = new AbortController()
  #resumed: PromiseWithResolvers<void> | null = null

  get isOver(): boolean {
    return this.#death.signal.aborted
  }

  /** Aborted when the process is killed. */
  get death(): AbortSignal {
    return this.#death.signal
  }

  get isPaused(): boolean {
    return this.#resumed !== null
  }

  /** Pending calls never resolve, and later calls have no effect. */
  kill(): void {
    this.#death.abort(new Error('the process was killed'))
    this.resume()
  }

  /** Stands still, as by SIGSTOP: what was sent gets there, and nothing that arrives has an effect before {@link resume}. */
  pause(): void {
    if (!this.isOver) this.#resumed ??= Promise.withResolvers()
  }

  resume(): void {
    this.#resumed?.resolve()
    this.#resumed = null
  }

  /** Resolves when the process runs; never when it was killed. */
  async running(): Promise<void> {
    while (this.#resumed !== null) await this.#resumed.promise
    if (this.isOver) await never()
  }

  /** Calls `work` when the process runs: at once, later, or never. */
  whenRunning(work: () => void): void {
    if (this.#resumed !== null) void this.running().then(work)
    else if (!this.isOver) work()
  }

  /** What `work` gives while the process lives. */
  async lived<T>(work: Promise<T>): Promise<T> {
    try {
      const value = await work
      while (this.#resumed !== null) await this.#resumed.promise
      return this.isOver ? await never() : value
    } catch (cause) {
      while (this.#resumed !== null) await this.#resumed.promise
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
      alarm: (ms, ring) => this.#alarm(clock, ms, ring),
      nextTurn: () => this.lived(clock.nextTurn())
    }
  }

  /**
   * The broker as this process reaches it. A command that has left it arrives even when nothing is left to receive the answer.
   * @param queued resolves when a command's turn has come: its first byte leaves after that
   */
  broker(definition: BrokerDefinition, queued: () => Promise<void> = async () => undefined): BrokerDefinition {
    return { ...definition, open: credentials => this.#session(definition.open(credentials), queued) }
  }

  #alarm(clock: Clock, ms: number, ring: () => void): Disposable {
    let isDisposed = false
    const alarm = clock.alarm(ms, () => this.whenRunning(() => isDisposed || ring()))
    return {
      [Symbol.dispose]() {
        isDisposed = true
        alarm[Symbol.dispose]()
      }
    }
  }

  #session(session: Broker, queued: () => Promise<void>): Broker {
    const alive = <Given extends readonly unknown[], Answer>(ask: (...given: Given) => Promise<Answer>) => {
      return (...given: Given): Promise<Answer> => (this.isOver ? never() : this.lived(ask(...given)))
    }
    /** Sent when its time has come, unless it was given up before. */
    const afterQueue = <Command, Answer>(send: (command: Command, signal: AbortSignal) => Promise<Outcome<Answer>>) => {
      return alive(async (command: Command, signal: AbortSignal): Promise<Outcome<Answer>> => {
        await this.lived(queued())
        return signal.aborted ? { kind: 'not_sent', cause: signal.reason } : await send(command, signal)
      })
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
      submit: afterQueue((order, signal) => session.submit(order, signal)),
      replace: afterQueue((request, signal) => session.replace(request, signal)),
      cancel: afterQueue((request, signal) => session.cancel(request, signal)),
      events: signal => this.#events(session, signal),
      [Symbol.asyncDispose]: alive(async () => await session[Symbol.asyncDispose]())
    }
  }

  async *#events(session: Broker, signal: AbortSignal): AsyncGenerator<AccountEvent, void, undefined> {
    const events = session.events(this.#either(signal))
    for await (const event of events) {
      while (this.#resumed !== null) await this.#resumed.promise
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
