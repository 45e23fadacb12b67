/** Starts the servers of the sandbox brokerage: the public port with OAuth, REST and the streams, and the control port. */

import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { makeFolder } from '@trunkline/files/durable'
import fastify, { type FastifyInstance } from 'fastify'
import type { Provider } from 'oidc-provider'
import { DEFAULT_HEARTBEAT_MS, type SandboxConfig, sandboxConfig } from '../config.ts'
import { MARKETS } from '../market/types.ts'
import { Cursors } from './api/cursor.ts'
import { hoursRoutes } from './api/hours.ts'
import { instrumentRoutes } from './api/instruments.ts'
import { orderRoutes } from './api/orders.ts'
import { readRoutes } from './api/reads.ts'
import { ResponseWriter } from './api/response-writer.ts'
import { Router } from './api/router.ts'
import { controlRoutes } from './control/routes.ts'
import { controlServer } from './control/server.ts'
import { type Core, inFolder, openCore } from './core.ts'
import type { Dialect, OpenDialect } from './dialect.ts'
import { NO_FACTS } from './faults.ts'
import { holdFolder, type Keys, keysOf } from './folder.ts'
import { takeJsonBodies } from './json-body.ts'
import { listInstruments } from './ledger.ts'
import { MARKET_STREAM_PATH } from './market-stream/hub.ts'
import { GrantStore } from './oauth/grants.ts'
import { mintTokens } from './oauth/mint.ts'
import { openProvider } from './oauth/provider.ts'
import { oauthRoutes } from './oauth/routes.ts'
import { goingOn } from './real-time.ts'
import { admitStream } from './stream/admit.ts'
import { openGate } from './stream/gate.ts'
import { STREAM_PATH } from './stream/hub.ts'
import { Timers } from './timers.ts'

/** The outside dependencies of the sandbox; tests pass their own. */
export interface BrokerageDeps {
  /** Milliseconds since the epoch. */
  readonly realNow: () => number
  /** Unguessable text of at least 20 letters, digits, `-` and `_`. */
  readonly newId: () => string
  /** Receives errors that are reported nowhere else. */
  readonly onError: (error: unknown) => void
}

/** An open brokerage. */
export interface Brokerage extends AsyncDisposable {
  readonly url: string
  readonly streamUrl: string
  readonly marketStreamUrl: string
  readonly controlUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly logins: readonly { readonly username: string; readonly password: string }[]
  /** Closes everything; a sandbox with a data folder can be started on it again. */
  close(): Promise<void>
}

const REAL: BrokerageDeps = {
  realNow: goingOn(
    () => Date.now(),
    () => performance.now()
  ),
  newId: () => randomBytes(18).toString('base64url'),
  onError: error => process.stderr.write(`sandbox: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}

const BODY_BYTES_MAX = 64 * 1024
const PARAM_CHARS_MAX = 4_096
const REQUEST_MS_MAX = 30_000

/**
 * Starts a sandbox, by default on free ports; missing `parts` have defaults. It serves its own API, and `openDialects`.
 * @throws Error if the data folder is in use, its state does not fit the market, or a port is taken.
 */
export async function startBrokerage(
  parts: Partial<SandboxConfig> = {},
  deps: Partial<BrokerageDeps> = {},
  openDialects: readonly OpenDialect[] = []
): Promise<Brokerage> {
  const config = sandboxConfig(parts)
  const undo: (() => unknown)[] = []
  try {
    return await open(config, { ...REAL, ...deps }, openDialects, undo)
  } catch (error) {
    // The reason why it did not open matters more than a failure to close the rest.
    await closeAll(undo).catch(() => undefined)
    throw error
  }
}

async function open(
  config: SandboxConfig,
  deps: BrokerageDeps,
  openDialects: readonly OpenDialect[],
  undo: (() => unknown)[]
): Promise<Brokerage> {
  const timers = new Timers()
  undo.push(() => timers.close())
  const keys = openFolder(config, deps, undo)
  const core = await openCore(config, { ...deps, timers }, undo)
  const lifetimes: OAuthSettings = { accessTtlS: config.accessTtlS, dialectTtlS: null, refreshGraceMs: config.refreshGraceMs }
  const oauth = { ...lifetimes }
  const grants = new GrantStore({
    file: inFolder(config, 'grants.jsonl'),
    now: deps.realNow,
    refreshGraceMs: () => oauth.refreshGraceMs,
    onEnded: grant => {
      core.hub.endGrant(grant)
      core.marketHub.endGrant(grant)
    }
  })
  undo.push(() => grants.close())
  core.passOf.current = token => grants.pass(token)

  const secret = config.clientSecret ?? deps.newId()
  const openOAuth = (url: string) =>
    openProvider({
      url,
      client: { id: config.clientId, secret, redirectUris: config.redirectUris },
      keys,
      grants,
      accessTtlS: () => oauth.accessTtlS,
      knowsLogin: id => core.customers.byId(id) !== undefined
    })
  const responseWriter = new ResponseWriter({
    counters: core.counters,
    wait: ms => timers.wait(ms),
    problem: problem => core.envelope.problem(problem)
  })
  const client = { id: config.clientId, secret, redirectUris: config.redirectUris }
  const dialects = openDialects.map(openDialect =>
    openDialect({
      ...core,
      ...{ responseWriter, timers, client },
      ...deps,
      inFolder: name => inFolder(config, name),
      seed: config.seed,
      oauth: () => ({ accessTtlS: oauth.dialectTtlS, refreshGraceMs: oauth.refreshGraceMs }),
      heartbeatMs: config.heartbeatMs === DEFAULT_HEARTBEAT_MS ? null : config.heartbeatMs
    })
  )
  const { url, provider } = await openPublic(
    core,
    { config, responseWriter, grants, keys, dialects, deps: { ...deps, timers }, openOAuth },
    undo
  )
  const control = controlServer(
    controlRoutes({
      ...core,
      grants,
      mint: (login, scopes) => mintTokens(provider, { login, client: config.clientId, scopes, now: deps.realNow() }),
      dialects,
      setOAuth: settings => {
        if (settings.accessTtlS !== undefined) oauth.dialectTtlS = settings.accessTtlS
        return Object.assign(oauth, settings)
      },
      reset: async () => {
        await resetAll(core, grants)
        Object.assign(oauth, lifetimes)
        for (const dialect of dialects) dialect.reset()
      }
    }),
    core.envelope,
    deps.onError
  )
  undo.push(() => control.close())
  await control.listen({ host: '127.0.0.1', port: config.controlPort })
  return brokerageOf(core, { url, controlUrl: urlOf(control, '127.0.0.1'), clientId: config.clientId, clientSecret: secret }, undo)
}

function brokerageOf(
  core: Core,
  parts: Pick<Brokerage, 'url' | 'controlUrl' | 'clientId' | 'clientSecret'>,
  undo: (() => unknown)[]
): Brokerage {
  let closing: Promise<void> | undefined
  const close = () => (closing ??= closeAll(undo))
  return {
    ...parts,
    streamUrl: `${parts.url.replace(/^http/, 'ws')}${STREAM_PATH}`,
    marketStreamUrl: `${parts.url.replace(/^http/, 'ws')}${MARKET_STREAM_PATH}`,
    logins: core.customers.all().map(({ username, password }) => ({ username, password })),
    close,
    [Symbol.asyncDispose]: close
  }
}

interface OAuthSettings {
  accessTtlS: number
  /** Null: each broker's own. */
  dialectTtlS: number | null
  refreshGraceMs: number
}

interface PublicParts {
  readonly dialects: readonly Dialect[]
  readonly config: SandboxConfig
  readonly responseWriter: ResponseWriter
  readonly grants: GrantStore
  readonly keys: Keys
  readonly deps: BrokerageDeps & { readonly timers: Timers }
  readonly openOAuth: (url: string) => Promise<Provider>
}

/** The port comes first and the OAuth server second, because its issuer contains the port. */
async function openPublic(
  core: Core,
  parts: PublicParts,
  undo: (() => unknown)[]
): Promise<{ readonly url: string; readonly provider: Provider }> {
  const { config, responseWriter, deps } = parts
  const oauth: { provider: Provider | undefined } = { provider: undefined }
  const app = publicServer(core, parts)
  oauthRoutes(app, { provider: () => oauth.provider, customers: core.customers, faults: core.faults, responseWriter, now: deps.realNow })
  undo.push(() => app.close())
  for (const dialect of parts.dialects) {
    dialect.mount(app)
    // Before the port closes, because that waits for every stream.
    undo.push(() => dialect.close())
  }
  openStreams(core, app, parts)
  undo.push(() => Promise.all([core.hub.close(), core.marketHub.close()]))
  await app.listen({ host: config.host, port: config.port })
  const url = config.publicUrl ?? urlOf(app, config.host)
  const provider = await parts.openOAuth(url)
  oauth.provider = provider
  return { url, provider }
}

function openStreams({ hub, marketHub, faults, counters }: Core, app: FastifyInstance, { dialects, deps }: PublicParts): void {
  openGate(app.server, {
    endpoints: [
      { path: STREAM_PATH, accept: (request, socket, head) => hub.accept(request, socket, head) },
      { path: MARKET_STREAM_PATH, accept: (request, socket, head) => marketHub.accept(request, socket, head) },
      ...dialects.flatMap(({ endpoints }) => endpoints)
    ],
    admit: socket =>
      admitStream(socket, {
        fault: faults.none ? undefined : faults.take('stream.connect', NO_FACTS),
        counters,
        wait: ms => deps.timers.wait(ms)
      })
  })
}

function publicServer(core: Core, { responseWriter, grants, keys, deps }: PublicParts): FastifyInstance {
  const prefix = deps.newId().slice(0, 8)
  let requests = 0
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    // Brokers accept lists of a hundred symbols in a path.
    routerOptions: { maxParamLength: PARAM_CHARS_MAX },
    requestTimeout: REQUEST_MS_MAX,
    forceCloseConnections: true,
    genReqId: () => `${prefix}-${++requests}`
  })
  takeJsonBodies(app, { empty: 'refused' })
  const router = new Router({ ...core, responseWriter, pass: token => grants.pass(token), onError: deps.onError })
  router.addRefusals(app)
  const cursors = new Cursors(Buffer.from(keys.cursors))
  const parts = { ...core, cursors }
  const routes = [...orderRoutes(parts), ...readRoutes(parts), ...instrumentRoutes(parts), ...hoursRoutes(parts)]
  for (const route of routes) router.add(app, route)
  return app
}

function openFolder(config: SandboxConfig, deps: BrokerageDeps, undo: (() => unknown)[]): Keys {
  if (config.dataDir === null) return keysOf(null, deps.newId)
  makeFolder(config.dataDir)
  undo.push(holdFolder(config.dataDir))
  return keysOf(config.dataDir, deps.newId)
}

async function resetAll(
  { state, publisher, hub, marketHub, faults, counters, customers, driver, market, clock, openAccounts }: Core,
  grants: GrantStore
): Promise<void> {
  // First, because a reset that cannot be written must change nothing.
  state.reset()
  faults.clear()
  counters.reset()
  for (const guest of customers.forgetGuests()) grants.endLogin(guest, false)
  publisher.reset()
  listInstruments({ market, state, clock })
  driver.refill()
  openAccounts()
  hub.reset()
  marketHub.reset()
  await marketAsStarted({ market, clock, driver })
}

/** Ends what the control API did to the market and the clock. Time itself never goes back: a clock that was moved stays ahead. */
async function marketAsStarted({ market: { control }, clock, driver }: Pick<Core, 'market' | 'clock' | 'driver'>): Promise<void> {
  const at = clock.now()
  for (const symbol of driver.halted) control.setHalted(symbol, false, at)
  for (const group of MARKETS) control.forcePhase(group, null, at)
  if (control.isPaused(at)) control.setPaused(false, at)
  clock.freeze(driver.leadsClock)
  await driver.afresh()
}

function urlOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Closes all, in reverse order, whatever fails. */
async function closeAll(undo: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of undo.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the sandbox did not close cleanly')
}
