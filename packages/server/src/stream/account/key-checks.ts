import type { CredentialLookup } from '@trunkline/core/app/authenticate'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { SessionCredentials } from './session-credentials.ts'

/** How often the keys of sessions are compared with the stored ones. A key that ends on one node has two seconds on the others. */
const CHECK_MS = 1_500

interface WithCredentials {
  readonly credentials: Pick<SessionCredentials, 'clientId' | 'compare'>
}

/** Ends sessions whose key was replaced, disabled or revoked on another node, without a message of it. */
export class KeyChecks {
  readonly #deps: { readonly lookup: Pick<CredentialLookup, 'platform'>; readonly clock: Clock; readonly log: Log }
  readonly #sessions: () => Iterable<WithCredentials>
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>

  constructor(
    deps: { readonly lookup: Pick<CredentialLookup, 'platform'>; readonly clock: Clock; readonly log: Log },
    sessions: () => Iterable<WithCredentials>
  ) {
    this.#deps = deps
    this.#sessions = sessions
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#deps
    const { signal } = this.#stopping
    for (let tookMs = 0; !signal.aborted; ) {
      await clock.sleep(Math.max(CHECK_MS / 4, CHECK_MS - tookMs), signal).catch(() => undefined)
      const begun = clock.monotonicMs()
      // Sessions stay while the store does not answer: nothing says that their keys have ended.
      if (!signal.aborted) await this.#check().catch(cause => log.warn('the keys of sessions could not be read', { cause }))
      tookMs = clock.monotonicMs() - begun
    }
  }

  /** One look-up for each key, whatever the number of its sessions. */
  async #check(): Promise<void> {
    const { signal } = this.#stopping
    for (const [clientId, sessions] of Map.groupBy(this.#sessions(), ({ credentials }) => credentials.clientId)) {
      if (clientId === null || signal.aborted) continue
      const stored = await this.#deps.lookup.platform(clientId)
      for (const { credentials } of sessions) credentials.compare(stored)
    }
  }
}
