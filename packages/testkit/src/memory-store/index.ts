// A store in memory: the port's promises without a database, for tests of the application layer. It runs the store contract too.
import type { Store } from '@trunkline/core/ports/store'
import { MemoryAuditStore, MemoryStreamSlotStore, MemoryTokenStore, MemoryUserStore } from './access.ts'
import { MemoryAttemptStore } from './attempts.ts'
import { MemoryConnectionStore } from './connections.ts'
import { MemoryDatabase, type MemoryDeps } from './database.ts'
import { MemoryPlatformKeyStore, MemoryPlatformStore } from './platforms.ts'
import { MemoryAccountStore, MemoryEventStore, MemoryOrderStore } from './records.ts'
import { memoryWebhooks } from './webhooks.ts'

export class MemoryStore implements Store {
  readonly platforms: MemoryPlatformStore
  readonly platformKeys: MemoryPlatformKeyStore
  readonly users: MemoryUserStore
  readonly attempts: MemoryAttemptStore
  readonly connections: MemoryConnectionStore
  readonly accounts: MemoryAccountStore
  readonly orders: MemoryOrderStore
  readonly events: MemoryEventStore
  readonly streamSlots: MemoryStreamSlotStore
  readonly tokens: MemoryTokenStore
  readonly audit: MemoryAuditStore
  readonly webhooks: Store['webhooks']
  readonly #db: MemoryDatabase

  constructor(deps: MemoryDeps) {
    const db = new MemoryDatabase(deps)
    this.#db = db
    this.platforms = new MemoryPlatformStore(db)
    this.platformKeys = new MemoryPlatformKeyStore(db)
    this.users = new MemoryUserStore(db)
    this.attempts = new MemoryAttemptStore(db)
    this.connections = new MemoryConnectionStore(db)
    this.accounts = new MemoryAccountStore(db)
    this.orders = new MemoryOrderStore(db)
    this.events = new MemoryEventStore(db)
    this.streamSlots = new MemoryStreamSlotStore(db)
    this.tokens = new MemoryTokenStore(db)
    this.audit = new MemoryAuditStore(db)
    this.webhooks = memoryWebhooks(db)
  }

  probe(): Promise<void> {
    return this.#db.call(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#db.isClosed = true
  }
}
