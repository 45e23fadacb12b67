// The practice account in which orders are repeated: a platform, a user and a login of its own, made when they are first needed.

import type { PlatformCaller, UserCaller } from '@trunkline/core/app/caller'
import { completeLogin } from '@trunkline/core/app/connect/complete-login'
import { approveAttempt } from '@trunkline/core/app/connect/decide'
import { startAttempt } from '@trunkline/core/app/connect/start-attempt'
import { type OperatorCaller, operatorAudit } from '@trunkline/core/app/operators/access'
import { createUser } from '@trunkline/core/app/users/users'
import type { Account, Connection, Platform, User } from '@trunkline/core/domain/account'
import { ServiceError } from '@trunkline/core/domain/errors'
import { type BrokerId, type PlatformId, parseUserId } from '@trunkline/core/domain/ids'
import type { Order } from '@trunkline/core/domain/order'
import { ACCOUNT_KINDS } from '@trunkline/sandbox/control-terms'
import { ownPlatformId } from '../../ops/demo-platform.ts'
import { approved, FormBrowser } from '../../ops/form-browser.ts'
import type { OperatorDeps } from '../deps.ts'
import { askSandbox, changeSandbox, ownSandbox } from '../sandbox/own.ts'
import { SANDBOX } from '../sandbox/requests.ts'

/**
 * How the name of the practice user in the sandbox begins. The rest is by chance: the sandbox derives ids from names, and after its reset
 * the new user must not be taken for the one before, whose grants are gone.
 */
const LOGIN_PREFIX = 'operator-replays-'
const PLATFORM_NAME = 'Replays in the sandbox (practice)'
const CASH = '1000000000'
const LOGIN_MS = 20_000

/** Where an order is repeated. */
export interface PracticeAccount {
  readonly caller: UserCaller
  readonly account: Account
  /** The practice user's name in the sandbox. */
  readonly username: string
}

/** The broker of the order if its requests go to this sandbox, else the sandbox itself. @throws ServiceError order_not_repeatable */
export function replayBroker(deps: OperatorDeps, order: Order): BrokerId {
  const here = ownSandbox(deps).brokers.filter(id => deps.app.brokers.get(id)?.login.kind === 'oauth')
  const found = here.find(id => id === order.broker) ?? here.find(id => id === 'SANDBOX')
  if (found !== undefined) return found
  throw new ServiceError(
    'order_not_repeatable',
    `Orders are repeated at ${order.broker} or SANDBOX, in the sandbox of this service, which has neither with logins on a page.`
  )
}

/** @throws ServiceError order_not_repeatable, sandbox_absent, sandbox_refused, sandbox_unavailable, broker_unavailable */
export async function practiceAccount(
  deps: OperatorDeps,
  by: OperatorCaller,
  broker: BrokerId,
  order: Pick<Order, 'instrument' | 'accountId' | 'userKey'>
): Promise<PracticeAccount> {
  const login = await replayLogin(deps, by)
  const platform = await replayPlatform(deps, by)
  const from = { platform, ip: by.ip, requestId: by.requestId }
  const caller: UserCaller = { ...from, user: await replayUser(deps, from, login.username) }
  demandOwned(deps, caller.user)
  const connection = (await connectionAt(deps, caller, broker)) ?? (await connected(deps, caller, broker, login))
  const accounts = await deps.app.store.accounts.listByConnections([connection.connectionId])
  const originals = await deps.app.store.accounts.listByUser(order.userKey)
  const original = originals.find(({ accountId }) => accountId === order.accountId)
  return { caller, username: login.username, account: fitting(accounts, order.instrument, original?.accountType ?? null) }
}

interface Login {
  readonly username: string
  readonly password: string
}

async function replayLogin(deps: OperatorDeps, by: OperatorCaller): Promise<Login> {
  const { items } = await askSandbox(deps, SANDBOX.logins())
  const known = items.find(({ username }) => username.startsWith(LOGIN_PREFIX))
  if (known !== undefined) return known
  const accounts = ACCOUNT_KINDS.map(kind => ({ kind, cash: CASH }))
  const username = `${LOGIN_PREFIX}${deps.app.ids.uuid().slice(-8)}`
  const made = { action: 'sandbox.login.create', target: username } as const
  const body = { username, name: 'Replays of operators', accounts }
  return (await changeSandbox(deps, by, made, SANDBOX.addLogin(body))).login
}

/** The platform of the practice account. It exists from the first replay on. */
export function replayPlatformId(hasher: OperatorDeps['app']['hasher']): PlatformId {
  return ownPlatformId(hasher, 'the platform of replays')
}

async function replayPlatform({ app: { store, ids, hasher, clock } }: OperatorDeps, by: OperatorCaller): Promise<Platform> {
  const platformId = replayPlatformId(hasher)
  const [known, disabled] = await Promise.all([store.platforms.find(platformId), store.platforms.disabled()])
  if (disabled.has(platformId))
    throw new ServiceError('order_not_repeatable', `The platform “${PLATFORM_NAME}” is disabled. Enable it to repeat orders.`)
  if (known !== null) return known
  const platform = {
    ...{ platformId, name: PLATFORM_NAME, redirectAllowList: [], claims: false, createdAt: clock.now() },
    clientId: ids.secret('pk_').slice(0, 27)
  }
  // Nobody is given its secret: only replays use it.
  const audit = operatorAudit(clock, by, 'platform.create', platformId, { replays: true })
  await store.platforms.create(platform, hasher.hash(ids.secret('sk_')), audit)
  return platform
}

async function replayUser({ app }: OperatorDeps, from: PlatformCaller, name: string): Promise<User> {
  const userId = parseUserId(name)
  const known = await app.store.users.find(from.platform.platformId, userId)
  return known?.user ?? (await createUser(app, from, userId)).user
}

function demandOwned({ app: { ownership } }: OperatorDeps, { userKey }: User): void {
  const owner = ownership.ownerOf(userKey)
  if (owner.kind === 'this') return
  const where = owner.kind === 'none' ? 'no node for a moment' : `node ${owner.node.nodeId}`
  throw new ServiceError('broker_unavailable', `The node that answers does not trade for the user of replays: ${where} does. Try there.`)
}

async function connectionAt({ app }: OperatorDeps, { user }: UserCaller, broker: BrokerId): Promise<Connection | null> {
  const { connections } = await app.directory.of(user.userKey)
  return connections.find(each => each.broker === broker && each.status === 'ACTIVE' && each.connectionType === 'trade') ?? null
}

/** Connects the login as a browser would, without a request to this service, whose public address may lead elsewhere. */
async function connected(deps: OperatorDeps, caller: UserCaller, broker: BrokerId, login: Login): Promise<Connection> {
  const { app } = deps
  const { callbackUrl } = ownSandbox(deps)
  const redirectUri = callbackUrl(broker)
  const session = { browser: app.ids.secret(''), ip: caller.ip, requestId: caller.requestId }
  const aim = { connectionType: 'trade', broker, redirectUrl: null, redirectOnErrorUrl: null } as const
  const { token } = await startAttempt(app, caller, aim)
  const next = await approveAttempt(app, token, session, { broker, callbackUrl: () => redirectUri })
  if (next.kind !== 'redirect') throw notConnected(broker, next.kind)
  const reached = await throughPages(deps, next.authorizationUrl, redirectUri, login, broker)
  const state = new URL(reached).searchParams.get('state') ?? ''
  const outcome = await completeLogin(app, { broker, environment: 'sandbox', state, callbackUrl: reached, redirectUri }, session)
  if (outcome.reason !== 'connected') throw notConnected(broker, outcome.reason)
  const made = (await app.store.connections.listByUser(caller.user.userKey, null)).find(each => each.broker === broker)
  if (made === undefined) throw notConnected(broker, 'it was removed at once')
  return made
}

async function throughPages(deps: OperatorDeps, start: string, end: string, login: Login, broker: BrokerId): Promise<string> {
  const limit = new AbortController()
  using _alarm = deps.app.clock.alarm(LOGIN_MS, () => limit.abort(new Error(`no login within ${LOGIN_MS} ms`)))
  const browser = new FormBrowser({ isEnd: url => url.startsWith(`${end}?`), signal: limit.signal })
  const { username, password } = login
  const page = await browser
    .open(start)
    .then(first => approved(browser, first, { username, password }))
    .catch((cause: unknown) => {
      throw notConnected(broker, 'its pages did not answer', cause)
    })
  if (page.url.startsWith(`${end}?`)) return page.url
  throw notConnected(broker, 'its pages did not lead back')
}

function notConnected(broker: BrokerId, why: string, cause?: unknown): ServiceError {
  const message = `The practice user could not be connected to ${broker} in the sandbox (${why}). A fault may be set; nothing was placed.`
  return new ServiceError('order_not_repeatable', message, cause === undefined ? {} : { cause })
}

/** An account of the kind that the order needs; among those, the original's kind. */
function fitting(accounts: readonly Account[], instrument: Order['instrument'], originalKind: string | null): Account {
  const kinds = instrument === 'CRYPTO' ? ['crypto'] : instrument === 'FUT' ? ['futures'] : [originalKind?.toLowerCase() ?? '', 'margin']
  const ofKind = (kind: string) => accounts.find(({ accountType }) => accountType?.toLowerCase() === kind)
  const found = kinds.map(ofKind).find(account => account !== undefined) ?? accounts[0]
  if (found !== undefined) return found
  throw new ServiceError('order_not_repeatable', 'The practice user has no account at the broker. Reset the sandbox, and try again.')
}
