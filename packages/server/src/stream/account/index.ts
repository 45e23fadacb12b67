// The broker update stream: orders, positions and balances of a platform's users.

import type { AppDeps } from '@trunkline/core/app/application'
import { Semaphore } from '@trunkline/core/app/semaphore'
import type { NodeId } from '@trunkline/core/domain/ids'
import { addressGroup } from '../../auth/address.ts'
import { BoundedLog } from '../../auth/bounded-log.ts'
import { FailedAttempts, sharedFailures } from '../../auth/failed-attempts.ts'
import type { SharedLimits } from '../../auth/rate-limit.ts'
import { CLOSE, type ClientConnection, type Listener } from '../client-connection.ts'
import type { StreamEndpoint } from '../gateway.ts'
import { type EncodeUpdate, Hub, type HubDeps } from './hub.ts'
import { KeyChecks } from './key-checks.ts'
import { SESSION_LIMITS, type SessionLimits } from './limits.ts'
import { AccountSession, type SessionDeps } from './session.ts'
import { AccountSessionSlots, SESSIONS_MAX } from './session-slots.ts'

export interface AccountStreamOptions {
  readonly sessionsMax?: number
  readonly limits?: Partial<SessionLimits>
  readonly encode?: EncodeUpdate
  /** What follows users; by default this node's own. */
  readonly watch?: HubDeps['watch']
  /** The health of a connection; null: only another node knows it. By default what this node knows. */
  readonly healthOf?: SessionDeps['healthOf']
  /** Between nodes: any message of the bus may be lost, so what it would report is looked up at intervals. */
  readonly inCluster?: boolean
  /** As its members know this node, so that others free its slots when it is lost; without it they expire. */
  readonly nodeId?: NodeId
  /** The limits that the nodes of a cluster share; null where there is one node. */
  readonly sharedLimits?: SharedLimits | null
}

const ACCESS_ENDED = 'the platform or its key was disabled'
/** Concurrent reads of the store for subscriptions, which leave capacity for other work, and how long one may hold its permit. */
const READS = { atOnce: 64, ms: 5_000 }
/** Failed authentications of one address, over all its sessions. */
const FAILURES = { perSecond: 1, burst: 100 }

/** All sessions of the node, and their shared state. */
export class AccountStream implements StreamEndpoint {
  readonly hub: Hub
  readonly #shared: SessionDeps
  readonly #slots: AccountSessionSlots
  readonly #sessions = new Set<AccountSession>()
  /** What is called once a session is authenticated. */
  readonly #known = new WeakMap<AccountSession, () => void>()
  readonly #unsubscribe: () => void
  readonly #stopListening: () => void
  readonly #stopping = new AbortController()
  readonly #checking: KeyChecks | null = null

  constructor(
    deps: AppDeps,
    {
      sessionsMax = SESSIONS_MAX,
      limits,
      encode,
      watch = deps.watch,
      inCluster = false,
      nodeId,
      healthOf,
      sharedLimits = null
    }: AccountStreamOptions = {}
  ) {
    const { store, bus, clock, log, ids } = deps
    this.hub = new Hub({
      events: store.events,
      bus,
      clock,
      log,
      watch,
      ...(encode && { encode }),
      ...(inCluster && { unreliable: { users: store.users } })
    })
    if (inCluster) this.#checking = new KeyChecks({ lookup: deps.lookup, clock, log }, () => this.#sessions)
    this.#slots = new AccountSessionSlots({ slots: store.streamSlots, clock, log }, { nodeId: nodeId ?? ids.uuid(), limit: sessionsMax })
    let secretChanges = 0
    const reads = new Semaphore<'subscribe'>(clock, READS)
    const failures = sharedFailures(sharedLimits, 'stream')
    const attempts = new FailedAttempts(FAILURES, () => clock.monotonicMs(), undefined, undefined, failures)
    this.#stopListening = attempts.listenTo(bus)
    this.#shared = {
      ...deps,
      log: new BoundedLog(log, () => clock.monotonicMs()),
      hub: this.hub,
      healthOf: healthOf ?? (connection => deps.mirrors.health(connection)),
      slots: this.#slots,
      limits: { ...SESSION_LIMITS, ...limits },
      withPermit: read => reads.take('subscribe', read, this.#stopping.signal),
      secretChanges: () => secretChanges,
      attempts,
      failed: address => {
        const refused = { actor: 'anonymous', target: 'stream', reason: 'credentials_invalid', requestId: null } as const
        deps.accessAudit.note({ action: 'access.failed', ...refused, ip: address, group: addressGroup(address) })
      },
      denied: (address, platformId) => {
        const refused = { actor: `platform:${platformId}`, target: 'stream', reason: 'user_not_found', requestId: null } as const
        deps.accessAudit.note({ action: 'access.denied', ...refused, ip: address, group: addressGroup(address) })
      },
      known: session => this.#known.get(session)?.(),
      gone: session => void this.#sessions.delete(session)
    }
    this.#unsubscribe = bus.subscribe(
      message => {
        if (message.type !== 'platform_secret_changed' && message.type !== 'platform_access_ended') return
        secretChanges += 1
        for (const session of this.#sessions) {
          if (session.platformId !== message.platformId) continue
          if (message.type === 'platform_secret_changed') void session.credentials.recheck()
          else if (message.keyId === null || message.keyId === session.credentials.keyId) session.listener.finish(CLOSE.ended, ACCESS_ENDED)
        }
      },
      ['platform_secret_changed', 'platform_access_ended']
    )
  }

  /** Sessions whose client is known. */
  get authenticated(): number {
    let count = 0
    for (const session of this.#sessions) if (session.platformId !== null) count += 1
    return count
  }

  get sessions(): number {
    return this.#sessions.size
  }

  /** Begins a session on a connection, which reports to it. */
  open(client: ClientConnection, address: string, known: () => void = () => undefined): Listener {
    const session = new AccountSession(this.#shared, client, address)
    this.#sessions.add(session)
    this.#known.set(session, known)
    session.start()
    return session.listener
  }

  /** Ends all sessions, each after its pending messages are sent. */
  finish(code: number, reason: string): void {
    for (const { listener } of this.#sessions) listener.finish(code, reason)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the service is shutting down'))
    this.#unsubscribe()
    this.#stopListening()
    await this.#checking?.stop()
    await this.hub.stop()
    await this.#slots.stop()
  }
}
