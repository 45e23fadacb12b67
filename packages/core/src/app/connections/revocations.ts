import { epochMs, timestampOfMs } from '../../domain/timestamp.ts'
import type { BrokerDefinition } from '../../ports/broker.ts'
import type { Revocation } from '../../ports/store.ts'
import { openCredentials } from '../broker-access/credentials.ts'
import { endpointOf } from '../broker-access/endpoints.ts'
import { mayEndAnother } from '../broker-access/shared-login.ts'
import type { Deps } from '../deps.ts'
import { isOwned } from '../owned-users.ts'
import { limited } from '../time-limits.ts'

const BATCH = 20
const EVERY_MS = 2_000
/** Time for clients of a login to be notified of its removal before the broker ends it. */
const GRACE_MS = 5_000
const REVOKE_MS = 10_000
const GIVE_UP_AFTER_MS = 7 * 24 * 3_600_000
const PAUSE_MAX_MS = 3_600_000
/** Fewest tries before giving up. A week has more of them, so that a clock set far forward does not end them early. */
const TRIES_LEAST = 100

type RevocationDeps = Pick<Deps, 'store' | 'brokers' | 'vault' | 'clock' | 'ids' | 'log' | 'meter' | 'ownership'>

/**
 * Revokes the logins of removed connections at their brokers, retrying for a week, then erases them. Includes connections that were not
 * claimed in time. A login whose revocation would end another connection's is only erased: the last of them revokes it.
 */
export class Revocations {
  readonly #deps: RevocationDeps
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null

  constructor(deps: RevocationDeps) {
    this.#deps = deps
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#deps.clock.sleep(EVERY_MS, signal).catch(() => undefined)
      if (signal.aborted) return
      try {
        await this.#deps.store.connections.expireClaims(this.#deps.clock.now(), BATCH)
        const before = timestampOfMs(epochMs(this.#deps.clock.now()) - GRACE_MS)
        for (const due of await this.#deps.store.connections.dueRevocations(before, BATCH))
          if (isOwned(this.#deps.ownership, due.userKey)) await this.#revoke(due)
      } catch (cause) {
        this.#deps.log.warn('revocations are waiting for the store', { cause })
      }
    }
  }

  async #revoke(due: Revocation): Promise<void> {
    const { connectionId, broker } = due
    const definition = this.#deps.brokers.get(broker)
    const now = this.#deps.clock.now()
    const isOld = epochMs(now) - epochMs(due.removedAt) >= GIVE_UP_AFTER_MS && due.attempts >= TRIES_LEAST
    let result: 'done' | 'shared' | 'given_up' = 'given_up'
    try {
      if (!isOld) result = await this.#ended(due, definition)
    } catch (cause) {
      // A failing login must not hold up those behind it.
      this.#deps.meter.count('revocations_total', { broker, result: 'postponed' })
      this.#deps.log.warn('a broker login could not be revoked yet', { connectionId, broker, cause })
      const pause = Math.min(PAUSE_MAX_MS, 2_000 * 2 ** due.attempts) * (0.5 + this.#deps.ids.fraction() / 2)
      return this.#deps.store.connections.postponeRevocation(connectionId, timestampOfMs(epochMs(now) + pause))
    }
    await this.#deps.store.connections.finishRevocation(connectionId)
    if (result === 'given_up')
      this.#deps.log.error('a broker login could not be revoked in time, and is given up', { connectionId, broker })
    this.#deps.meter.count('revocations_total', { broker, result })
  }

  async #ended(due: Revocation, definition: BrokerDefinition | undefined): Promise<'done' | 'shared'> {
    // It may be offered again after a restart; until then the login stays valid at the broker.
    if (definition === undefined) throw new Error('the broker is not among those of TRUNKLINE_BROKERS now')
    const { store, vault, clock } = this.#deps
    // Opened in any case: credentials of another endpoint must wait.
    const credentials = openCredentials(vault, due, due.credentials, endpointOf(definition))
    if (await mayEndAnother(store, definition, due.brokerAccountIds)) return 'shared'
    await limited(clock, REVOKE_MS, signal => definition.login.revoke(credentials, signal), this.#stopping.signal)
    return 'done'
  }
}
