/** The composition root: the only file that imports all parts; only the programs import it. */

import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { openBrokers } from '@trunkline/brokers/registry'
import type { AppDeps } from '@trunkline/core/app/application'
import { application } from '@trunkline/core/app/application'
import { settleEndpoints } from '@trunkline/core/app/broker-access/settle-endpoints'
import type { Deps } from '@trunkline/core/app/deps'
import { settlingOver } from '@trunkline/core/app/orders/settle-order'
import { soleOwnership } from '@trunkline/core/app/sole-ownership'
import { within } from '@trunkline/core/app/time-limits'
import type { BrokerId } from '@trunkline/core/domain/ids'
import { epochMs } from '@trunkline/core/domain/timestamp'
import type { BrokerDefinition } from '@trunkline/core/ports/broker'
import type { Log } from '@trunkline/core/ports/log'
import type { Store } from '@trunkline/core/ports/store'
import { makeFolder } from '@trunkline/files/durable'
import { AdminChannel } from './admin/channel.ts'
import { Admin } from './admin/index.ts'
import { assertServiceKeys, openServiceKeys } from './admin/service-keys.ts'
import { CredentialCache } from './auth/credential-cache.ts'
import { openBus } from './bus/index.ts'
import { ClusterNode } from './cluster/node.ts'
import type { Settings } from './config/settings.ts'
import { serveConsole } from './console/console.ts'
import { loginBy, metricsAt, storeOptions, timingOf } from './from-settings.ts'
import { watchApplication, watchBus, watchMarket, watchNode, watchStream, watchWebhooks } from './gauges.ts'
import { endProcess, holdDatabase } from './hold-database.ts'
import { home } from './home/home.ts'
import { InFlight } from './http/in-flight.ts'
import { buildHttp, DEFAULT_LIMITS } from './http/index.ts'
import { problemOf } from './http/problems.ts'
import { nothingHere } from './http/routing.ts'
import { CALLBACK_PATH } from './oidc/options.ts'
import { operatorsApi } from './operators/index.ts'
import { ALONE, OPERATORS_PATH } from './operators/nodes/index.ts'
import { RequestLog } from './operators/request-log.ts'
import { SystemClock } from './ops/clock.ts'
import { CLOSE_CODES } from './ops/counters.ts'
import { addressesOf, demoFor } from './ops/demo.ts'
import { DemoHome } from './ops/demo-home.ts'
import { DemoFile, type DemoPlatform } from './ops/demo-platform.ts'
import { probeFiles } from './ops/file-probe.ts'
import { Housekeeping } from './ops/housekeeping.ts'
import { RandomIds } from './ops/ids.ts'
import { PromMeter } from './ops/metrics.ts'
import { MetricsPage } from './ops/metrics-page.ts'
import { Parts } from './ops/parts.ts'
import { LEASE_LOST, ProcessEnd } from './ops/process-policy.ts'
import { isAllowed, localUrl } from './ops/public-url.ts'
import { Readiness } from './ops/readiness.ts'
import { operations } from './ops/routes.ts'
import { VERSION } from './ops/version.ts'
import { controlled, hoursOf, startSandbox } from './own-sandbox.ts'
import { portal } from './portal/portal.ts'
import { SharedSubmissions } from './portal/shared-submissions.ts'
import { openStore } from './store/index.ts'
import { type Migration, readMigrations } from './store/migrate.ts'
import { processName } from './store/process-name.ts'
import { encodedOnce } from './stream/account/encoded-once.ts'
import { encodeUpdate } from './stream/account/hub.ts'
import { AccountStream } from './stream/account/index.ts'
import { connectionsOf, gatewayLimits, slotsOf } from './stream/capacity.ts'
import { CLOSE } from './stream/client-connection.ts'
import { type StreamEndpoint, StreamGateway } from './stream/gateway.ts'
import { AddressSlots } from './stream/market/address-slots.ts'
import { MarketStream } from './stream/market/index.ts'
import { answerPlainRequests } from './stream/plain-http.ts'
import { EnvelopeVault } from './vault/envelope.ts'
import { Sha256Hasher } from './vault/hasher.ts'
import { buildWebhooks } from './webhooks/index.ts'

/** Replacements for tests, between the service and what it depends on. */
export interface Wraps {
  readonly store?: (store: Store) => Store
  readonly brokers?: (definitions: ReadonlyMap<BrokerId, BrokerDefinition>) => ReadonlyMap<BrokerId, BrokerDefinition>
  /** Of another version of the service. */
  readonly migrations?: readonly Migration[]
}

/** A running service. */
export interface Service {
  /** The public origin. */
  readonly url: string
  /** The brokers that users can connect, in the order shown. */
  readonly brokers: readonly Pick<BrokerDefinition, 'capabilities' | 'environment'>[]
  /** The demo platform and what a newcomer needs; null if an operator created other platforms. */
  readonly demo: { readonly demo: DemoPlatform; readonly created: boolean } | null
  /** Each time a link to the demo platform's page is used, calls back with the next one. */
  onNewLink(listener: (link: string) => void): void
  /** Finishes what is in flight, then stops every part. */
  stop(): Promise<void>
}

const DRAIN_MS = 10_000
const SETTLE_MS = 1_000
const STREAM_PATHS = ['/stream', '/v1/stream']
const MARKET_PATHS = ['/market-data/stream', '/v1/market-data/stream']
const PART_STOP_MS = 8_000

/** Starts everything. If a part fails to start, the parts before it are stopped. */
export async function compose(
  settings: Settings,
  log: Log,
  env: Readonly<Record<string, string | undefined>>,
  wraps: Wraps = {}
): Promise<Service> {
  const clock = new SystemClock()
  const parts = new Parts(clock, log)
  try {
    return await start(settings, log, env, wraps, clock, parts)
  } catch (cause) {
    await parts.stop(PART_STOP_MS)
    throw cause
  }
}

async function start(
  settings: Settings,
  log: Log,
  env: Readonly<Record<string, string | undefined>>,
  wraps: Wraps,
  clock: SystemClock,
  parts: Parts
): Promise<Service> {
  const dataDir = resolve(settings.dataDir)
  makeFolder(dataDir)
  const keys = openServiceKeys(settings, dataDir, { clock, log })
  const ids = new RandomIds()
  const meter = new PromMeter(settings.offers.map(({ id }) => id))
  let publicUrl = settings.publicUrl ?? ''

  const clientSecret = settings.sandboxClientSecret ?? randomBytes(32).toString('base64url')
  const inSandbox = settings.offers.filter(({ at }) => at === 'sandbox').map(({ id }) => id)
  const hasher = new Sha256Hasher(keys.ring.instanceKey())
  const migrations = wraps.migrations ?? readMigrations()
  const name = processName(migrations.length, { random: ids.uuid().slice(-12) })
  const node = clusterNode(settings, { clock, ids, log, meter, hasher, name })
  const held = await holdDatabase(settings, { clock, log, name, schema: migrations.length }, parts)
  const [opened, sandboxProcess] = await Promise.all([
    openStore(storeOptions(settings, dataDir), {
      clock,
      ids,
      log,
      unsafeDurability: settings.unsafeDurability,
      migrations,
      ...held,
      ...(node !== null && { fenceOf: userKey => node.ownership.fenceOf(userKey) })
    }).then(store => {
      parts.add('store', async () => await store[Symbol.asyncDispose]())
      return store
    }),
    inSandbox.length > 0 && settings.sandboxUrl === null
      ? startSandbox({ settings, dataDir, clientSecret, inSandbox, env }, log, parts)
      : null
  ])
  await assertServiceKeys(keys, opened, { isNode: node !== null, log })
  const store = wraps.store?.(opened) ?? opened

  const sandbox = sandboxProcess?.ready ?? null
  const sandboxUrl = settings.sandboxUrl ?? sandbox?.url ?? null
  const sandboxAccess =
    sandboxUrl === null
      ? null
      : {
          ...{ url: sandboxUrl, publicUrl: sandboxUrl, clientId: settings.sandboxClientId, clientSecret, hours: hoursOf(env) },
          ...(settings.sandboxUrl === null ? {} : { host: new URL(settings.sandboxUrl).host })
        }
  let quotaShare = () => 1
  const offered = openBrokers(
    settings.offers,
    { clock, log, meter, fraction: () => ids.fraction(), quotaShare: () => quotaShare() },
    sandboxAccess
  )
  parts.add('brokers', async () => await offered[Symbol.asyncDispose]())

  const encode = encodedOnce(encodeUpdate)
  const { bus, between } = await openBus(settings, {
    ...{ clock, ids, log, hasher, name },
    ...{ encode, findUser: userKey => store.users.findByKey(userKey) },
    ...(node !== null && { direct: node.messages, isFollowed: userKey => node.isFollowedElsewhere(userKey) })
  })
  if (between !== null) {
    parts.add('bus', async () => await between[Symbol.asyncDispose]())
    node?.onMessage(message => between.receive(message))
    watchBus(meter, between)
  }
  const rates = node !== null && between !== null ? node.ratesOver(between, () => between.isConnected) : null
  if (rates !== null) parts.add('limits shared with other nodes', async () => rates.stop())
  quotaShare = () => rates?.quotaShare ?? 1
  const sharedLimits = rates === null ? null : (name: string) => rates.limit(name)
  const deps: Deps = {
    store,
    brokers: wraps.brokers?.(offered) ?? offered,
    bus,
    clock,
    ids,
    vault: new EnvelopeVault(keys.ring),
    hasher,
    log,
    meter,
    ownership: node?.ownership ?? soleOwnership,
    timing: timingOf(settings)
  }
  await settleEndpoints(deps, await opened.members.living())
  const shared = node === null ? null : { isOurs: () => node.isFirst, sweep: () => opened.marketSlots.sweep() }
  const app = started(deps, parts, new Housekeeping(deps, settings.eventsDays, shared))
  const readiness = new Readiness({ probe: async () => void (await Promise.all([store.probe(), probeFiles(dataDir)])) }, clock)
  const connectionsMax = connectionsOf(settings, log)
  const requests = new RequestLog(() => epochMs(clock.now()))
  const webhooks = buildWebhooks(settings, { ...deps, sharedLimits }, parts)
  const http = buildHttp(app, {
    publicUrl: () => publicUrl,
    webhooks: webhooks.ports,
    trustedProxies: settings.trustedProxies,
    limits: {
      ...DEFAULT_LIMITS,
      connections: { ...DEFAULT_LIMITS.connections, total: connectionsMax },
      platform: { perSecond: settings.rateLimitPlatform, burst: 2 * settings.rateLimitPlatform },
      user: { perSecond: settings.rateLimitUser, burst: 2 * settings.rateLimitUser }
    },
    accessLog: settings.accessLog,
    docs: settings.docs,
    ...(node !== null && { forwarder: node.forwarder, isLeaving: () => node.isLeaving }),
    sharedLimits,
    observe: request => {
      const { method, route, status, milliseconds } = request
      meter.request(method, route, status, milliseconds / 1_000)
      requests.add({ ...request, at: clock.now() })
    }
  })
  let demo: Service['demo'] = null
  const demoFile = new DemoFile(join(dataDir, 'demo-platform.json'))
  const demoHome = new DemoHome(demoFile, { monotonicMs: () => clock.monotonicMs(), newSecret: () => ids.secret(''), log })
  await portal(http, app, {
    ...{ publicUrl: () => publicUrl, demo: () => demo?.demo.client_id ?? null, problemOf },
    submissions: node === null ? null : new SharedSubmissions({ ...deps, store: opened.submissions, nodeId: node.nodeId })
  })
  const metrics = new MetricsPage(
    () => meter.registry.metrics(),
    () => clock.monotonicMs()
  )
  await operations(http, { readiness, metrics, metricsAt: metricsAt(settings, dataDir, ids), parts, nothingHere })
  home(http, {
    brokers: [...deps.brokers.values()],
    publicUrl: () => publicUrl,
    demo: () => (demo === null ? null : demoFile.read()),
    demoFile: demoFile.path,
    access: demoHome.access,
    monotonicMs: () => clock.monotonicMs()
  })
  const login = loginBy(settings, clock)
  if (login !== null) parts.add('login provider', async () => await login.provider[Symbol.asyncDispose]())
  serveConsole(http, nothingHere, login === null ? null : CALLBACK_PATH)
  const settling = settlingOver(app)
  const operators = operatorsApi(http, app, {
    ...{ operators: opened.operators, reads: opened.operatorReads, requests, login, publicUrl: () => publicUrl },
    ...{ settling, abandoned: opened.audit, webhooks: webhooks.ports },
    service: {
      ...{ startedAt: clock.now(), name: node?.nodeId ?? 'this', version: VERSION },
      problem: () => readiness.problem()
    },
    others: node === null ? ALONE : node.asked(OPERATORS_PATH),
    forwarder: node?.forwarder ?? null,
    sandbox: controlled(sandboxProcess, inSandbox, { clock, publicUrl: () => publicUrl })
  })
  node?.onQuestion(OPERATORS_PATH, question => operators.answer(question))
  parts.add('reads of operators', () => operators.stop())
  const watch = node?.follow(app, {
    taken: partitions => bus.publish({ type: 'partitions_followed', partitions }),
    health: ({ userKey, connectionId, health }) => stream.hub.healthElsewhere(userKey, connectionId, health)
  })
  const stream = new AccountStream(app, {
    ...(node !== null && { nodeId: node.nodeId, healthOf: connection => node.healthOf(connection) }),
    ...(watch !== undefined && { watch, inCluster: true, encode, sharedLimits })
  })
  parts.add('stream', () => stream.stop())
  const addressSlots = node === null ? null : new AddressSlots({ ...deps, store: opened.marketSlots, nodeId: node.nodeId })
  const inCluster = addressSlots === null || sharedLimits === null ? null : { addressSlots, sharedLimits }
  const market = new MarketStream(app, {}, slotsOf(settings, connectionsMax), node?.marketSessions ?? null, inCluster)
  parts.add('market stream', async () => {
    market.stop()
    await addressSlots?.stop()
  })
  const endpoints = Object.fromEntries([...STREAM_PATHS.map(path => [path, stream]), ...MARKET_PATHS.map(path => [path, market])])
  const closed = (code: number) => meter.count('stream_closed_total', { code: CLOSE_CODES.has(code) ? String(code) : 'other' })
  const mayOpen = (endpoint: StreamEndpoint, origin: string) =>
    isAllowed(origin, publicUrl, endpoint === stream ? settings.streamOrigins : settings.marketOrigins)
  const limits = gatewayLimits(connectionsMax)
  const gateway = new StreamGateway(
    { clock, log },
    { endpoints, ofOtherNodes: market.ofOtherNodes, trustedProxies: settings.trustedProxies, mayOpen, limits, closed }
  )
  answerPlainRequests(http, [...STREAM_PATHS, ...MARKET_PATHS])
  gateway.guard(http.server)
  watchApplication(meter, app, readiness)
  watchStream(meter, stream, gateway)
  if (node !== null) watchNode(meter, node)
  watchMarket(meter, app, market)

  // Stopped after the server, whose last requests may be on their way to other nodes.
  if (node !== null) parts.add('node', () => node.stop())
  const inFlight = new InFlight(http.server)
  parts.add('http', async () => {
    readiness.stopping()
    operators.endWaits()
    const drainedAt = clock.monotonicMs() + DRAIN_MS
    const closing = http.close()
    await within(clock, Promise.all([inFlight.idle(), node?.idle()]), DRAIN_MS)
    const left = await app.commands.drain(clock, Math.max(0, drainedAt - clock.monotonicMs()))
    if (left > 0) log.warn('commands are still on the wire; the next start looks their orders up', { commands: left })
    await within(clock, stream.hub.settled(), SETTLE_MS)
    // After the last requests, so that sessions receive their updates. The server is closed once its last socket is.
    await gateway.stop(CLOSE.goingAway, 'the service is shutting down')
    await closing
  })
  if (node !== null) {
    node.onRelease(isMoved => market.endMoved(isMoved))
    await node.listen({
      serve: (request, response) => {
        if (!operators.serve(request, response)) http.routing(request, response)
      },
      passThrough: (...session) => gateway.passThrough(...session)
    })
  }
  await http.listen({ host: settings.host, port: settings.port })
  publicUrl ||= localUrl(settings.host, http.server.address())
  demo = await demoFor(settings, deps, demoFile, { ...addressesOf(publicUrl, sandbox), home_url: demoHome.linkAt(publicUrl) })
  const admin = new Admin({
    ...deps,
    store: opened,
    settling,
    keys: () => keys,
    webhooks: webhooks.ports,
    demoFile: demoFile.path,
    publicUrl
  })
  const adminChannel = new AdminChannel(admin, { dataDir, log })
  parts.add('admin channel', () => adminChannel.stop())
  await adminChannel.start()
  between?.start()
  rates?.start()
  if (node !== null) {
    await node.join()
    parts.add('owned users', async () => {
      readiness.stopping()
      await node.leave()
    })
  }
  await app.ownedWork.start()
  await webhooks.start()
  watchWebhooks(meter, webhooks.sender)
  readiness.serving()
  log.info('ready', { url: publicUrl })
  return {
    ...{ url: publicUrl, brokers: [...deps.brokers.values()], demo },
    onNewLink: listener => demoHome.onNewLink(listener),
    stop: () => parts.stop(PART_STOP_MS + DRAIN_MS)
  }
}

/** The application and its background work. */
function started(deps: Deps, parts: Parts, housekeeping: Housekeeping): AppDeps {
  const { app, revocations, parts: stoppable } = application(deps, new CredentialCache(deps.store, deps.bus, deps.clock))
  for (const { name, stop } of stoppable) parts.add(name, stop)
  revocations.start()
  parts.add('housekeeping', () => housekeeping.stop())
  housekeeping.start()
  return app
}

/** Null: this process is alone. */
function clusterNode(
  settings: Settings,
  deps: Omit<ConstructorParameters<typeof ClusterNode>[1], 'databaseUrl' | 'onLost'>
): ClusterNode | null {
  const { databaseUrl, natsUrl } = settings
  if (natsUrl === null || databaseUrl === null) return null
  return new ClusterNode(settings, { ...deps, databaseUrl, onLost: cause => endProcess(new ProcessEnd(LEASE_LOST, cause)) })
}
