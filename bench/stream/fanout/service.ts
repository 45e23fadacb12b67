/**
 * The service's side of fan-out: the real upgrade path, sessions, hub and send buffers over a real store, on a bus that this process
 * publishes on itself, so that neither a broker nor the database is measured.
 */

import type { Socket } from 'node:net'
import { application } from '@trunkline/core/app/application'
import type { Deps } from '@trunkline/core/app/deps'
import { DEFAULT_TIMING } from '@trunkline/core/app/timing'
import { createUser } from '@trunkline/core/app/users/users'
import type { Balance, Platform, User } from '@trunkline/core/domain/account'
import { type AccountId, type ConnectionId, type EventId, type PlatformId, parseUserId, type UserId } from '@trunkline/core/domain/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { LocalBus } from '../../../packages/core/src/app/local-bus.ts'
import { soleOwnership } from '../../../packages/core/src/app/sole-ownership.ts'
import { CredentialCache } from '../../../packages/server/src/auth/credential-cache.ts'
import { buildHttp, DEFAULT_OPTIONS } from '../../../packages/server/src/http/index.ts'
import { SystemClock } from '../../../packages/server/src/ops/clock.ts'
import { RandomIds } from '../../../packages/server/src/ops/ids.ts'
import { PromMeter } from '../../../packages/server/src/ops/metrics.ts'
import { openStore } from '../../../packages/server/src/store/index.ts'
import { AccountStream } from '../../../packages/server/src/stream/account/index.ts'
import { textFrame } from '../../../packages/server/src/stream/frame.ts'
import { StreamGateway } from '../../../packages/server/src/stream/gateway.ts'
import { EnvelopeVault } from '../../../packages/server/src/vault/envelope.ts'
import { Sha256Hasher } from '../../../packages/server/src/vault/hasher.ts'
import { openKeys } from '../../../packages/server/src/vault/index.ts'
import { buildWebhooks } from '../../../packages/server/src/webhooks/index.ts'
import { scratch } from '../../harness/processes.ts'
import { answering } from '../../harness/workers.ts'
import { userName } from '../client/update.ts'
import { CountingLog } from './counting-log.ts'
import { orderEvents } from './orders.ts'
import { Producer } from './producer.ts'
import type { Client, ServerRequests } from './requests.ts'
import { eventsPerTick, type Shape, SmallUpdates, shapeNamed, usersOf } from './shapes.ts'

const PATH = '/stream'
const MADE_AT_ONCE = 50

const complain = (message: string, fields: object = {}) => {
  process.stderr.write(`${message} ${Object.values(fields).map(String).join(' ')}\n`)
}
const log: Log = { debug() {}, info() {}, warn: complain, error: complain }
const folder = scratch()
process.once('exit', () => folder[Symbol.dispose]())

const clock = new SystemClock()
const ids = new RandomIds()
const meter = new PromMeter()
const bus = new LocalBus(log)
const keys = openKeys({ masterKeys: null, dataDir: folder.path, create: true }, { clock, log })
let producer: Producer | null = null

answering<ServerRequests>({
  async open({ shape: name, bytes, how }) {
    const shape = shapeNamed(name)
    const deps = await openDeps()
    const { clients, users } = await makeUsers(deps, shape)
    const eventLog = new CountingLog(users.map(({ userKey }) => userKey))
    const { app } = application({ ...deps, store: { ...deps.store, events: eventLog } }, new CredentialCache(deps.store, bus, clock))
    const eventOf = how === 'orders' ? orderEvents(ids) : smallEvents()
    // Small updates are encoded here, because they are not real records; the service frames them as usual.
    const updates = new SmallUpdates(bytes)
    const encode = ({ seq, eventId }: LoggedEvent, userId: UserId) => textFrame(Buffer.from(updates.text(seq, userId, eventId)))
    const stream = new AccountStream(app, how === 'orders' ? {} : { encode })
    const url = await serve(deps, app, stream)
    producer = new Producer({
      users: users.length,
      eventsPerTick: eventsPerTick(shape),
      sockets: () => sockets,
      // One event at a time, as the order writer publishes.
      produce(number) {
        const user = users[number]
        if (user === undefined) throw new Error(`no user ${number}`)
        bus.publish({ type: 'events', userKey: user.userKey, events: [eventOf(user, eventLog.next(number))] })
      }
    })
    const [first] = users
    const sample = first === undefined ? 0 : stream.hub.frame(eventOf(first, 1), first.userId).length
    return { url, bytes: how === 'orders' ? sample - FRAME_HEAD : bytes, clients }
  },
  start() {
    producer?.start()
    return null
  },
  async stop() {
    return (await producer?.stop()) ?? new Uint32Array()
  }
})

const FRAME_HEAD = 4
const sockets = new Set<Socket>()

async function openDeps(): Promise<Deps> {
  const store = await openStore({ kind: 'embedded', dataDir: `${folder.path}/database` }, { clock, ids, log })
  return {
    ...{ store, bus, clock, ids, log, meter },
    brokers: new Map(),
    vault: new EnvelopeVault(keys.ring),
    hasher: new Sha256Hasher(keys.ring.instanceKey()),
    ownership: soleOwnership,
    timing: DEFAULT_TIMING
  }
}

/** Creates platforms and users like the operator and the REST API. */
async function makeUsers(deps: Deps, shape: Shape): Promise<{ readonly clients: readonly Client[]; readonly users: readonly User[] }> {
  const clients: Client[] = []
  const platforms: Platform[] = []
  for (let number = 0; number < shape.platforms; number += 1) {
    const clientSecret = ids.secret('sk_')
    const platform: Platform = {
      platformId: ids.uuid<PlatformId>(),
      clientId: ids.secret('pk_').slice(0, 25),
      name: `platform ${number}`,
      redirectAllowList: [],
      claims: false,
      createdAt: clock.now()
    }
    const audit = {
      at: platform.createdAt,
      actor: 'operator',
      action: 'platform.create',
      target: platform.platformId,
      result: 'ok'
    } as const
    await deps.store.platforms.create(platform, deps.hasher.hash(clientSecret), { ...audit, ip: null, requestId: null, detail: {} })
    platforms.push(platform)
    clients.push({ clientId: platform.clientId, clientSecret })
  }
  const users: User[] = []
  for (let from = 0; from < usersOf(shape); from += MADE_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(MADE_AT_ONCE, usersOf(shape) - from) }, (_, index) => from + index)
    const made = numbers.map(async number => {
      const platform = platforms[Math.floor(number / shape.usersOfPlatform)]
      if (platform === undefined) throw new Error(`no platform of user ${number}`)
      return (await createUser(deps, { platform, ip: null, requestId: null }, parseUserId(userName(number)))).user
    })
    users.push(...(await Promise.all(made)))
  }
  return { clients, users }
}

async function serve(deps: Deps, app: Parameters<typeof buildHttp>[0], stream: AccountStream): Promise<string> {
  let url = ''
  const webhooks = buildWebhooks({ webhookNetworks: [] }, deps, { add() {} }).ports
  const http = buildHttp(app, { ...DEFAULT_OPTIONS, publicUrl: () => url, webhooks })
  // All sessions of a measurement come from one machine, so the limit per address is lifted; every limit per session applies.
  const gateway = new StreamGateway(deps, {
    endpoints: { [PATH]: stream },
    trustedProxies: [],
    limits: { unauthenticated: { total: 1_000, perAddress: 1_000, perNetwork: 1_000, graceMs: 5_000 } },
    closed: () => undefined
  })
  gateway.guard(http.server)
  http.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  url = await http.listen({ host: '127.0.0.1', port: 0 })
  return `${url.replace(/^http/, 'ws')}${PATH}`
}

/** Events whose data is not read: {@link SmallUpdates} makes what is sent. */
function smallEvents(): (user: User, seq: number) => LoggedEvent {
  const at = clock.now()
  const [eventId, accountId, connectionId] = [ids.uuid<EventId>(), ids.uuid<AccountId>(), ids.uuid<ConnectionId>()]
  const data: Balance = {
    ...{ accountId, currency: 'USD', systemTime: at },
    ...{
      cash: null,
      buyingPower: null,
      initialMargin: null,
      maintenanceMargin: null,
      regTBuyingPower: null,
      equity: null,
      marketValue: null
    }
  }
  // Of one id, in plain names: the store normally makes events, so that work must not count here.
  return ({ userKey }, seq) => ({
    eventId,
    userKey,
    seq,
    accountId,
    at,
    topic: 'balances',
    data,
    connectionId,
    accountNumber: 'SBX-100001'
  })
}
