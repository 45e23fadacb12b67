// Who and what there is in one simulation: a platform, its users, their logins at brokers, the store, and the one time they all live in.
import { randomBytes } from 'node:crypto'
import { sealCredentials } from '@trunkline/core/app/broker-access/credentials'
import type { UserCaller } from '@trunkline/core/app/caller'
import type { Account, Connection, ConnectionAttempt, Platform, User } from '@trunkline/core/domain/account'
import type { Brand } from '@trunkline/core/domain/brand'
import { parseBrokerId, parseUserId, parseUuid, type UserKey } from '@trunkline/core/domain/ids'
import { PARTITIONS } from '@trunkline/core/domain/partition'
import { epochMs } from '@trunkline/core/domain/timestamp'
import type { BrokerCapabilities } from '@trunkline/core/ports/broker'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Ids } from '@trunkline/core/ports/ids'
import type { Store } from '@trunkline/core/ports/store'
import { ScriptedBroker } from '@trunkline/testkit/scripted-broker/index'
import * as make from '@trunkline/testkit/store-contract/records'
import type { VirtualClock } from '@trunkline/testkit/virtual-clock'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { FixedKeyRing, parseKeySet } from '../../src/vault/master-keys.ts'
import type { Chance } from './chance.ts'
import { SteppedStore } from './stepped-store.ts'
import type { Trace } from './trace.ts'

export const VAULT = new EnvelopeVault(new FixedKeyRing(parseKeySet(`k1:${randomBytes(32).toString('base64')}`)))
export const HASHER = new Sha256Hasher(Buffer.alloc(32, 9))

/** A user's login at a broker, with the broker itself: each login has one of its own, so that each fails in its own way. */
export interface Login {
  readonly owner: Owner
  readonly connection: Connection
  readonly accounts: readonly Account[]
  readonly broker: ScriptedBroker
  readonly isConnected: boolean
  /** Stores the connection, behind the service's back; false when its user is gone. */
  connect(): Promise<boolean>
}

export interface Owner {
  readonly user: User
  readonly caller: UserCaller
  readonly logins: readonly Login[]
}

/** How big a scene is. */
export interface Cast {
  /** Of each user, the capabilities that its logins' brokers have beyond the usual ones. The first login is there from the start. */
  readonly users: readonly (readonly Partial<BrokerCapabilities>[])[]
  /** Whether a further login is there from the start. */
  readonly isEarly: () => boolean
  readonly accountsOf: () => number
  /** How many processes serve them. */
  readonly nodes: number
}

export interface Scene {
  readonly clock: VirtualClock
  readonly chance: Chance
  readonly trace: Trace
  readonly store: SteppedStore
  readonly ids: Ids
  readonly platform: Platform
  readonly clientSecret: string
  readonly owners: readonly Owner[]
  readonly logins: readonly Login[]
  /** Keys of users and ids of connections whose removal was asked for. */
  readonly doomed: Set<string>
}

/** Stores everybody. Nothing of the service runs yet. */
export async function openScene(
  inner: Store,
  { users, isEarly, accountsOf, nodes }: Cast,
  { clock, chance, trace }: Pick<Scene, 'clock' | 'chance' | 'trace'>
): Promise<Scene> {
  const ids = new SceneIds(clock, chance.apart('ids'))
  const store = new SteppedStore(inner, { clock, chance: chance.apart('store'), trace })
  clock.restWith(() => store.rest())
  const clientSecret = ids.secret('sk_')
  const platform: Platform = { ...make.platform(), platformId: ids.uuid(), clientId: `pk_${ids.uuid()}` }
  await inner.platforms.create(platform, HASHER.hash(clientSecret), make.audit())
  const owners: Owner[] = []
  const partitions = chance.apart('partitions')
  for (const [index, brokers] of users.entries()) {
    // Who owns a user among several nodes has to be the same in every run.
    const userKey = nodes === 1 ? ids.uuid<UserKey>() : inPartition(ids.uuid(), partitions.whole(0, PARTITIONS - 1))
    const user: User = { ...make.user(platform), userId: parseUserId(`user-${index + 1}`), userKey }
    await inner.users.create(user, HASHER.hash(ids.secret('us_')), make.audit())
    store.users.add(user.userKey)
    const logins: SceneLogin[] = []
    const owner: Owner = { user, caller: { platform, user, ip: null, requestId: null }, logins }
    for (const capabilities of brokers) {
      const id = parseBrokerId(`SIM${owners.length + 1}${logins.length + 1}`)
      const broker = new ScriptedBroker(clock, { ...capabilities, id, name: id })
      logins.push(new SceneLogin({ inner, ids, owner, broker, accounts: accountsOf() }))
    }
    for (const [at, login] of logins.entries()) if (at === 0 || isEarly()) await login.connect()
    owners.push(owner)
  }
  const logins = owners.flatMap(owner => owner.logins)
  return { clock, chance, trace, store, ids, platform, clientSecret, owners, logins, doomed: new Set() }
}

function inPartition(userKey: UserKey, partition: number): UserKey {
  return parseUuid<UserKey>(`${userKey.slice(0, -2)}${partition.toString(16).padStart(2, '0')}`, 'user key')
}

class SceneLogin implements Login {
  readonly owner: Owner
  readonly connection: Connection
  readonly accounts: readonly Account[]
  readonly broker: ScriptedBroker
  readonly #inner: Store
  readonly #ids: Ids
  #isConnected = false

  constructor(given: Pick<Login, 'owner' | 'broker'> & { readonly inner: Store; readonly ids: Ids; readonly accounts: number }) {
    this.owner = given.owner
    this.broker = given.broker
    this.#inner = given.inner
    this.#ids = given.ids
    this.connection = { ...make.connection(given.owner.user), connectionId: given.ids.uuid(), broker: given.broker.capabilities.id }
    this.accounts = Array.from(
      { length: given.accounts },
      (_, index): Account => ({ ...make.account(this.connection, `A-${index + 1}`), accountId: given.ids.uuid() })
    )
  }

  get isConnected(): boolean {
    return this.#isConnected
  }

  async connect(): Promise<boolean> {
    this.#isConnected = true
    const { user } = this.owner
    if ((await this.#inner.users.findByKey(user.userKey)) === null) return false
    const attempt: ConnectionAttempt = { ...make.attempt(user), attemptId: this.#ids.uuid() }
    await this.#inner.attempts.create(attempt, make.hash(), make.audit())
    const credentials = sealCredentials(VAULT, this.connection, { credentials: { token: 't-1' }, endpoint: make.ENDPOINT }, 1)
    return await this.#inner.connections.create(this.connection, this.accounts, credentials, attempt.attemptId, make.audit())
  }
}

/** Ids that sort as they were made and differ from those of every other run, so that runs of the same seed can share a database. */
class SceneIds implements Ids {
  readonly #clock: Pick<Clock, 'now'>
  readonly #chance: Chance
  readonly #run = randomBytes(8).toString('hex')
  #count = 0

  constructor(clock: Pick<Clock, 'now'>, chance: Chance) {
    this.#clock = clock
    this.#chance = chance
  }

  uuid<Id extends Brand<string, string>>(): Id {
    this.#count += 1
    const time = epochMs(this.#clock.now()).toString(16).padStart(12, '0')
    const count = (this.#count & 0xfff).toString(16).padStart(3, '0')
    const text = `${time.slice(0, 8)}-${time.slice(8)}-7${count}-8${this.#run.slice(0, 3)}-${this.#run.slice(3, 15)}`
    return parseUuid<Id>(text, 'id')
  }

  secret(prefix: string): string {
    this.#count += 1
    return `${prefix}${this.#run}-${this.#count}`
  }

  fraction(): number {
    return this.#chance.fraction()
  }
}
