// The market data stream: bars, trades, quotes, depth and options chains of the broker behind a user's connection.

import type { AppDeps } from '@trunkline/core/app/application'
import type { Attempt } from '@trunkline/core/app/authenticate'
import { Semaphore } from '@trunkline/core/app/semaphore'
import type { KeyId, PlatformId, UserKey } from '@trunkline/core/domain/ids'
import { addressGroup } from '../../auth/address.ts'
import { BoundedLog } from '../../auth/bounded-log.ts'
import { FailedAttempts, sharedFailures } from '../../auth/failed-attempts.ts'
import type { SharedLimits } from '../../auth/rate-limit.ts'
import { CLOSE, type ClientConnection, type Listener } from '../client-connection.ts'
import type { ClientConnectionLimits, StreamEndpoint } from '../gateway.ts'
import { SEND_BUFFER_LIMITS } from '../send-buffer-limits.ts'
import { type AccessGrant, AccessRefused, endOfKey, grantOf, KEY_ENDED, keyEnd, OwnedElsewhere, TOKEN_INVALID } from './access.ts'
import type { AddressSlots } from './address-slots.ts'
import { MARKET_SESSION_LIMITS, type MarketSessionLimits } from './limits.ts'
import type { OwnerSessions } from './owner-sessions.ts'
import { MarketSession, type MarketSessionDeps } from './session.ts'
import { NoSlot, SessionSlots, SLOT_LIMITS, type SlotLimits } from './session-slots.ts'
import { TokenChecks } from './token-checks.ts'

/** Failed authentications of one address, over all its sessions. */
const FAILURES = { perSecond: 1, burst: 100 }
/** Concurrent snapshots of the process, and how long one may hold its permit. */
const SNAPSHOTS = { atOnce: 8, ms: 30_000 }
/** Concurrent snapshots of one user: a user with many sessions must not delay the others. */
const SNAPSHOTS_OF_USER = { atOnce: 2, ms: 60_000 }
/** Enough for a snapshot of 50,000 bars and the messages meanwhile, or a quarter of a million trades. */
const SEND_BUFFER = { ...SEND_BUFFER_LIMITS, messagesMax: 262_144, bytesMax: 16 * 1024 * 1024 }
export const MARKET_CONNECTION_LIMITS: ClientConnectionLimits = { messageBytesMax: 16 * 1024, sendBuffer: SEND_BUFFER }

const MOVED = 'another node serves this user from now on; connect again'

/** What the nodes of a cluster count together. */
export interface MarketInCluster {
  readonly addressSlots: AddressSlots
  readonly sharedLimits: SharedLimits
}

/** What a session is admitted with. */
interface Admission {
  readonly deps: AppDeps
  readonly isElsewhere: (userKey: UserKey) => boolean
  readonly enter: (grant: AccessGrant) => void
}

/** All sessions of the node, and the rules between those of one user. */
export class MarketStream implements StreamEndpoint {
  readonly limits = MARKET_CONNECTION_LIMITS
  /** Takes the sessions that other nodes pass through. */
  readonly ofOtherNodes: StreamEndpoint = {
    limits: MARKET_CONNECTION_LIMITS,
    open: (client, address, known) => this.#open(this.#passedThrough, client, address, known),
    // They are ended with the others.
    finish: () => undefined
  }
  readonly #bus: AppDeps['bus']
  readonly #shared: MarketSessionDeps
  /** The same for sessions that other nodes pass through. */
  readonly #passedThrough: MarketSessionDeps
  readonly #sessions = new Set<MarketSession>()
  /** What is called once a session is authenticated. */
  readonly #known = new WeakMap<MarketSession, () => void>()
  readonly #registered = new Map<UserKey, Set<MarketSession>>()
  readonly #slots: SessionSlots<MarketSession>
  readonly #perAddress: number
  /** Null where there is one node. */
  readonly #addressSlots: AddressSlots | null
  readonly #unsubscribe: () => void
  readonly #stopping = new AbortController()
  /** Counts evictions: a token that was looked up meanwhile may have ended too, while its session is not registered yet. */
  #evictions = 0
  #rechecking = Promise.resolve()
  /** Null where there is one node: it knows of everything that ends a session. */
  readonly #checks: TokenChecks<MarketSession> | null

  constructor(
    deps: AppDeps,
    limits: Partial<MarketSessionLimits> = {},
    slots: SlotLimits = SLOT_LIMITS,
    ownerSessions: OwnerSessions | null = null,
    inCluster: MarketInCluster | null = null
  ) {
    this.#slots = new SessionSlots(slots)
    this.#perAddress = slots.perAddress
    this.#addressSlots = inCluster?.addressSlots ?? null
    const { clock, ids, log, meter, bus, markets } = deps
    this.#bus = bus
    const failures = sharedFailures(inCluster?.sharedLimits ?? null, 'market')
    const attempts = new FailedAttempts(FAILURES, () => clock.monotonicMs(), undefined, undefined, failures)
    const reads = new Semaphore<'snapshot'>(clock, SNAPSHOTS)
    const readsOfUser = new Semaphore<UserKey>(clock, SNAPSHOTS_OF_USER)
    const { signal } = this.#stopping
    const isElsewhere = (userKey: UserKey) => ownerSessions?.isElsewhere(userKey) === true
    const admitting =
      (foreign: (grant: AccessGrant) => AccessGrant): MarketSessionDeps['admit'] =>
      (session, token, enter) =>
        limited(attempts, { of: 'token', address: session.address, name: null, secretHash: deps.hasher.hash(token) }, async () => {
          const grant = await this.#admitted(session, token, { deps, isElsewhere, enter })
          return grant === null ? null : foreign(grant)
        })
    this.#shared = {
      clock,
      ids,
      log: new BoundedLog(log, () => clock.monotonicMs()),
      meter,
      admit: admitting(grant => grant),
      openAtOwner: async (userKey, address, receiver) => (await ownerSessions?.open(userKey, address, receiver)) ?? null,
      register: (session, grant) => this.#register(session, grant),
      join: connection => markets.join(connection),
      leave: (connection, market) => markets.leave(connection, market),
      withPermit: (userKey, read) => readsOfUser.take(userKey, () => reads.take('snapshot', read, signal), signal),
      failed: address => {
        const refused = { actor: 'anonymous', target: 'market', reason: 'auth_error', requestId: null } as const
        deps.accessAudit.note({ action: 'access.failed', ...refused, ip: address, group: addressGroup(address) })
      },
      known: session => this.#known.get(session)?.(),
      gone: session => this.#forget(session),
      limits: { ...MARKET_SESSION_LIMITS, ...limits }
    }
    this.#passedThrough = {
      ...this.#shared,
      admit: admitting(({ userKey }) => {
        throw new OwnedElsewhere(`the user ${userKey} is not owned by this node`)
      })
    }
    this.#checks = ownerSessions === null ? null : this.#newChecks(deps)
    this.#unsubscribe = bus.subscribe(message => {
      switch (message.type) {
        case 'market_token_used':
          return this.#keepOnly(message)
        case 'connection_removed':
          return this.#evict(message.userKey, 'The connection was deleted.', message.connectionId)
        case 'connection_renewed':
          return this.#evict(message.userKey, RENEWED, message.connectionId, 'auth_error')
        case 'user_removed':
          return this.#evict(message.userKey, 'The user was deleted.')
        case 'user_secret_changed':
          return this.#evict(message.userKey, SECRET_CHANGED, null, 'auth_error')
        case 'user_disabled':
          return this.#evict(message.userKey, 'The user was disabled.', null, 'auth_error')
        case 'platform_access_ended':
          return this.#evictAll(message)
        case 'platform_secret_changed':
          return this.#recheckSoon(deps, message.platformId)
        case 'connection_health':
          if (message.health.state === 'broken') this.#evict(message.userKey, BROKEN, message.connectionId)
      }
    }, BUS_MESSAGES)
  }

  /** Authenticated sessions. */
  get authenticated(): number {
    let count = 0
    for (const sessions of this.#registered.values()) count += sessions.size
    return count
  }

  get subscriptions(): number {
    let count = 0
    for (const session of this.#sessions) count += session.subscriptions
    return count
  }

  open(client: ClientConnection, address: string, known: () => void = () => undefined): Listener {
    return this.#open(this.#shared, client, address, known)
  }

  #open(deps: MarketSessionDeps, client: ClientConnection, address: string, known: () => void): Listener {
    const session = new MarketSession(deps, client, address)
    this.#sessions.add(session)
    this.#known.set(session, known)
    session.start()
    return session.listener
  }

  finish(code: number, reason: string): void {
    for (const { listener } of this.#sessions) listener.finish(code, reason)
  }

  /** Closes the sessions of users that another node serves from now on: their clients connect again. */
  endMoved(isMoved: (userKey: UserKey) => boolean): void {
    for (const [userKey, sessions] of this.#registered)
      if (isMoved(userKey)) for (const { listener } of [...sessions]) listener.finish(CLOSE.goingAway, MOVED)
  }

  stop(): void {
    this.#stopping.abort(new Error('the service is shutting down'))
    this.#checks?.stop()
    this.#unsubscribe()
  }

  /** Returns the grant if another node owns the user, and otherwise null, after `enter`. @throws AccessRefused */
  async #admitted(session: MarketSession, accessToken: string, admission: Admission): Promise<AccessGrant | null> {
    let grant: AccessGrant | null = null
    try {
      grant = await this.#admit(session, accessToken, admission)
      return grant
    } finally {
      // Refused, foreign, or gone meanwhile.
      if (session.grant === null || session.listener.isOver) this.#addressSlots?.release(session.sessionId)
    }
  }

  async #admit(session: MarketSession, accessToken: string, { deps, isElsewhere, enter }: Admission): Promise<AccessGrant | null> {
    let known: readonly string[] = []
    for (let looks = 0; looks < LOOKS_MAX; looks++) {
      const before = this.#evictions
      const grant = await grantOf(deps, accessToken)
      if (isElsewhere(grant.userKey)) return grant
      await this.#takeAddressSlot(session)
      if (isElsewhere(grant.userKey)) return grant
      // While this token was looked up, a newer one may have been used: then another look-up finds this one superseded. Timestamps do not
      // show it.
      const rivals = this.#rivals(grant)
      if (before === this.#evictions && rivals.every(rival => known.includes(rival))) {
        enter(grant)
        return null
      }
      known = rivals
    }
    throw new AccessRefused('auth_error', TOKEN_INVALID)
  }

  /** @throws AccessRefused, StoreUnavailable */
  async #takeAddressSlot(session: MarketSession): Promise<void> {
    if (this.#addressSlots === null || (await this.#addressSlots.take(session, this.#perAddress))) return
    throw new AccessRefused(
      'auth_error',
      `There are ${this.#perAddress} sessions from this address, which is the limit; close one of them first.`
    )
  }

  #release(session: MarketSession): void {
    this.#slots.release(session)
    this.#addressSlots?.release(session.sessionId)
  }

  /** Other tokens of the same connection that sessions use. */
  #rivals({ userKey, tokenHash, connection: { connectionId } }: AccessGrant): readonly string[] {
    const passes = [...(this.#registered.get(userKey) ?? [])].flatMap(({ grant }) => grant ?? [])
    return passes
      .filter(grant => grant.connection.connectionId === connectionId && grant.tokenHash !== tokenHash)
      .map(grant => grant.tokenHash)
  }

  /** The user's sessions that use another token, or come from another address, end on every node. */
  #register(session: MarketSession, grant: AccessGrant): void {
    const { userKey, tokenHash } = grant
    const others = this.#registered.get(userKey) ?? new Set<MarketSession>()
    this.#takeSlot(session, grant)
    this.#bus.publish({ type: 'market_token_used', userKey, tokenHash, address: session.address })
    this.#registered.set(userKey, others.add(session))
  }

  /** Counts the user's sessions that stay: with the same token, from the same address. @throws AccessRefused */
  #takeSlot(session: MarketSession, { userKey, tokenHash, connection }: AccessGrant): void {
    const others = [...(this.#registered.get(userKey) ?? [])]
    const stays = (other: MarketSession) =>
      !other.listener.isOver && other.grant?.tokenHash === tokenHash && other.address === session.address
    try {
      this.#slots.take(session, { platformId: connection.platformId, address: session.address }, others.filter(stays).length)
    } catch (cause) {
      throw cause instanceof NoSlot ? new AccessRefused('auth_error', cause.message) : cause
    }
  }

  #keepOnly({ userKey, tokenHash, address }: { readonly userKey: UserKey; readonly tokenHash: string; readonly address: string }): void {
    for (const session of [...(this.#registered.get(userKey) ?? [])]) {
      if (session.grant?.tokenHash !== tokenHash) session.evict('auth_error', 'Another access token of this user is in use now.')
      else if (session.address !== address) session.evict('auth_error', 'The access token is used from another address now.')
      if (session.listener.isOver) this.#release(session)
    }
  }

  /** Ends sessions of the platform, or of tokens that one of its keys created. */
  #evictAll({ platformId, keyId }: { readonly platformId: PlatformId; readonly keyId: KeyId | null }): void {
    this.#evictions += 1
    for (const session of [...this.#sessions]) {
      if (session.grant?.connection.platformId !== platformId || (keyId !== null && session.grant.keyId !== keyId)) continue
      session.evict('auth_error', 'The platform, or the key this token was had with, was disabled.')
      this.#release(session)
    }
  }

  /** Sequential, so that an earlier read is not taken for the newest. */
  #recheckSoon(deps: AppDeps, platformId: PlatformId): void {
    this.#evictions += 1
    this.#rechecking = this.#rechecking.then(() => this.#recheck(deps, platformId))
  }

  /**
   * A secret of the platform was replaced: sessions end whose token was created with a secret that is no longer valid, at once or when it
   * ends.
   */
  async #recheck({ store, clock, log }: AppDeps, platformId: PlatformId): Promise<void> {
    const sessions = [...this.#sessions].filter(({ grant }) => grant?.connection.platformId === platformId)
    for (const [tokenHash, using] of Map.groupBy(sessions, ({ grant }) => grant?.tokenHash)) {
      if (tokenHash === undefined) continue
      const end = await keyEnd(store, tokenHash, clock.now()).catch((cause: unknown) => {
        log.warn('sessions end: whether the key of their token is still good could not be read', { sessions: using.length, cause })
        return 'over' as const
      })
      for (const session of using) {
        if (end !== 'over') session.expiry.endAt(end)
        else session.evict('auth_error', KEY_ENDED)
        if (session.listener.isOver) this.#release(session)
      }
    }
  }

  #newChecks({ store, clock, log }: AppDeps): TokenChecks<MarketSession> {
    const sessionsOf = () => {
      const granted = [...this.#sessions].flatMap(session => (session.grant === null ? [] : [{ session, hash: session.grant.tokenHash }]))
      const byHash = Map.groupBy(granted, ({ hash }) => hash)
      return new Map([...byHash].map(([hash, found]) => [hash, found.map(({ session }) => session)]))
    }
    return new TokenChecks({ tokens: store.tokens, clock, log }, sessionsOf, (session, token) => {
      const end = token === null ? 'over' : endOfKey(token, clock.now())
      if (end === 'over') session.evict('auth_error', ACCESS_ENDED)
      else session.expiry.endAt(end)
      if (session.listener.isOver) this.#release(session)
    })
  }

  #evict(
    userKey: UserKey,
    message: string,
    connectionId: string | null = null,
    code: 'auth_error' | 'connection_broken' = 'connection_broken'
  ): void {
    this.#evictions += 1
    for (const session of [...(this.#registered.get(userKey) ?? [])]) {
      if (connectionId === null || session.grant?.connection.connectionId === connectionId) session.evict(code, message)
      if (session.listener.isOver) this.#release(session)
    }
  }

  #forget(session: MarketSession): void {
    this.#sessions.delete(session)
    this.#release(session)
    const { grant } = session
    if (grant === null) return
    const others = this.#registered.get(grant.userKey)
    if (others?.delete(session) === true && others.size === 0) this.#registered.delete(grant.userKey)
  }
}

/** Admits an attempt to a look-up unless its address has failed too often. @throws AccessRefused, TooManyFailures */
async function limited<T>(attempts: FailedAttempts, attempt: Attempt, admit: () => Promise<T>): Promise<T> {
  attempts.demandCalm(attempt)
  try {
    const result = await admit()
    attempts.proved(attempt)
    return result
  } catch (cause) {
    if (cause instanceof AccessRefused) attempts.failed(attempt)
    else attempts.undecided(attempt)
    throw cause
  }
}

const LOOKS_MAX = 10
const ACCESS_ENDED = 'The user, the platform or the key of this token was disabled, or a secret was replaced; get a new access token.'
const SECRET_CHANGED = 'The user’s secret was replaced; get a new access token with the new one.'
const BUS_MESSAGES = [
  'market_token_used',
  'connection_removed',
  'connection_renewed',
  'user_removed',
  'user_secret_changed',
  'user_disabled',
  'platform_access_ended',
  'platform_secret_changed',
  'connection_health'
] as const
const RENEWED = 'The login of the connection was renewed. Connect again; the access token is as good as before.'
const BROKEN = 'The broker rejects this connection; have the user connect it again.'
