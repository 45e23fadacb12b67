// A store whose calls can be counted, failed and delayed, one by one.
import type { UserKey } from '@trunkline/core/domain/ids'
import type { ConnectionStore, Store } from '@trunkline/core/ports/store'

/** One call, such as `orders.record`, with its arguments. `go` carries it out. */
export interface StoreCall {
  readonly name: string
  readonly given: readonly unknown[]
  readonly go: () => Promise<unknown>
}

export class WatchedStore {
  readonly store: Store
  /** A start restores this user's connections only: other tests have theirs in the same database. */
  owner: UserKey | null = null
  /** Intercepts calls of the application; null passes everything. */
  intercept: ((call: StoreCall) => Promise<unknown>) | null = null
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(inner: Store) {
    this.store = this.#parts(inner)
  }

  /** Resolves when no call is under way. Returns whether one was. */
  async idle(): Promise<boolean> {
    const wasBusy = this.#running > 0
    while (this.#running > 0) await new Promise<void>(resolve => this.#waiting.add(resolve))
    return wasBusy
  }

  #parts(inner: Store): Store {
    const wrap = <Part extends object>(name: keyof Store, part: Part) => this.#watched(String(name), part)
    return {
      platforms: wrap('platforms', inner.platforms),
      platformKeys: wrap('platformKeys', inner.platformKeys),
      users: wrap('users', inner.users),
      attempts: wrap('attempts', inner.attempts),
      connections: this.#ownOnly(wrap('connections', inner.connections)),
      accounts: wrap('accounts', inner.accounts),
      orders: wrap('orders', inner.orders),
      events: wrap('events', inner.events),
      streamSlots: wrap('streamSlots', inner.streamSlots),
      tokens: wrap('tokens', inner.tokens),
      audit: wrap('audit', inner.audit),
      webhooks: {
        endpoints: this.#watched('webhooks.endpoints', inner.webhooks.endpoints),
        cursors: this.#watched('webhooks.cursors', inner.webhooks.cursors),
        deliveries: this.#watched('webhooks.deliveries', inner.webhooks.deliveries)
      },
      probe: () => inner.probe(),
      [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose]()
    }
  }

  #ownOnly(connections: ConnectionStore): ConnectionStore {
    return new Proxy(connections, {
      get: (real, method) => {
        if (method !== 'withUnfinishedOrders') return Reflect.get(real, method)
        return async () => (await real.withUnfinishedOrders()).filter(({ userKey }) => userKey === this.owner)
      }
    })
  }

  #watched<Part extends object>(part: string, target: Part): Part {
    return new Proxy(target, {
      get: (real, method) => {
        const value: unknown = Reflect.get(real, method, real)
        if (typeof value !== 'function') return value
        return (...given: readonly unknown[]) =>
          this.#call({ name: `${part}.${String(method)}`, given, go: async () => await Reflect.apply(value, real, given) })
      }
    })
  }

  /** A delayed call counts as at rest: only time can end it. */
  async #call(call: StoreCall): Promise<unknown> {
    const counted: StoreCall = { ...call, go: () => this.#counted(call.go) }
    return this.intercept === null ? await counted.go() : await this.intercept(counted)
  }

  async #counted(go: () => Promise<unknown>): Promise<unknown> {
    this.#running += 1
    try {
      return await go()
    } finally {
      this.#running -= 1
      if (this.#running === 0) {
        for (const wake of this.#waiting) wake()
        this.#waiting.clear()
      }
    }
  }
}
