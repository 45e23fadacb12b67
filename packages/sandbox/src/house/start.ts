/** Opens the doors of the sandbox brokerage: its public port with OAuth, REST and the streams, and the control port. */

import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { makeFolder } from '@trunkline/files/durable'
import fastify, { type FastifyInstance } from 'fastify'
import type { Provider } from 'oidc-provider'
import { DEFAULT_HEARTBEAT_MS, type HouseConfig, houseConfig } from '../config.ts'
import { Cursors } from './api/cursor.ts'
import { hoursRoutes } from './api/hours.ts'
import { instrumentRoutes } from './api/instruments.ts'
import { orderRoutes } from './api/orders.ts'
import { Outlet } from './api/outlet.ts'
import { readRoutes } from './api/reads.ts'
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

/** What the house cannot make itself; tests pass their own. */
export interface HouseDeps {
  /** Milliseconds since the epoch. */
  readonly realNow: () => number
  /** Unguessable text of at least 20 letters, digits, `-` and `_`. */
  readonly newId: () => string
  /** Hears of failures nobody else will be told of. */
  readonly onTrouble: (error: unknown) => void
}

/** An open house. */
export interface House extends AsyncDisposable {
  readonly url: string
  readonly streamUrl: string
  readonly marketStreamUrl: string
  readonly controlUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly logins: readonly { readonly username: string; readonly password: string }[]
  /** Closes everything; a house with a data folder can be started again on it. */
  close(): Promise<void>
}

const REAL: HouseDeps = {
  realNow: goingOn(
    () => Date.now(),
    () => performance.now()
  ),
  newId: () => randomBytes(18).toString('base64url'),
  onTrouble: error => process.stderr.write(`sandbox: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
}

const BODY_BYTES_MAX = 64 * 1024
const PARAM_CHARS_MAX = 4_096
const REQUEST_MS_MAX = 30_000

/**
 * Starts a house on free ports unless told otherwise; what is left out of `parts` has its default. It speaks its own API, and `tongues`.
 * @throws Error when the data folder is in use or its books do not suit the market, or a port is taken.
 */
export async function startHouse(
  parts: Partial<HouseConfig> = {},
  deps: Partial<HouseDeps> = {},
  tongues: readonly OpenDialect[] = []
): Promise<House> {
  const config = houseConfig(parts)
  const undo: (() => unknown)[] = []
  try {
    return await open(config, { ...REAL, ...deps }, tongues, undo)
  } catch (error) {
    // Why it did not open says more than what could not be closed after it.
    await closeAll(undo).catch(() => undefined)
    throw error
  }
}

async function open(config: HouseConfig, deps: HouseDeps, tongues: readonly OpenDialect[], undo: (() => unknown)[]): Promise<House> {
  const timers = new Timers()
  undo.push(() => timers.close())
  const keys = openFolder(config, deps, undo)
  const core = await openCore(config, { ...deps, timers }, undo)
  const oauth: OAuthSettings = { accessTtlS: config.accessTtlS, dialectTtlS: null, refreshGraceMs: config.refreshGraceMs }
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
      knowsLogin: id => core.people.byId(id) !== undefined
    })
  const outlet = new Outlet({ counters: core.counters, wait: ms => timers.wait(ms), problem: problem => core.envelope.problem(problem) })
  const client = { id: config.clientId, secret, redirectUris: config.redirectUris }
  const dialects = tongues.map(tongue =>
    tongue({
      ...core,
      ...{ outlet, timers, client },
      ...deps,
      inFolder: name => inFolder(config, name),
      seed: config.seed,
      oauth: () => ({ accessTtlS: oauth.dialectTtlS, refreshGraceMs: oauth.refreshGraceMs }),
      heartbeatMs: config.heartbeatMs === DEFAULT_HEARTBEAT_MS ? null : config.heartbeatMs
    })
  )
  const { url, provider } = await openPublic(core, { config, outlet, grants, keys, dialects, deps: { ...deps, timers }, openOAuth }, undo)
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
        for (const dialect of dialects) dialect.reset()
      }
    }),
    core.envelope,
    deps.onTrouble
  )
  undo.push(() => control.close())
  await control.listen({ host: '127.0.0.1', port: config.controlPort })
  return house(core, { url, controlUrl: urlOf(control, '127.0.0.1'), clientId: config.clientId, clientSecret: secret }, undo)
}

function house(core: Core, parts: Pick<House, 'url' | 'controlUrl' | 'clientId' | 'clientSecret'>, undo: (() => unknown)[]): House {
  let closing: Promise<void> | undefined
  const close = () => (closing ??= closeAll(undo))
  return {
    ...parts,
    streamUrl: `${parts.url.replace(/^http/, 'ws')}${STREAM_PATH}`,
    marketStreamUrl: `${parts.url.replace(/^http/, 'ws')}${MARKET_STREAM_PATH}`,
    logins: core.people.all().map(({ username, password }) => ({ username, password })),
    close,
    [Symbol.asyncDispose]: close
  }
}

interface OAuthSettings {
  accessTtlS: number
  /** Null: as each broker has it. */
  dialectTtlS: number | null
  refreshGraceMs: number
}

interface Doors {
  readonly dialects: readonly Dialect[]
  readonly config: HouseConfig
  readonly outlet: Outlet
  readonly grants: GrantStore
  readonly keys: Keys
  readonly deps: HouseDeps & { readonly timers: Timers }
  readonly openOAuth: (url: string) => Promise<Provider>
}

/** The port comes first and the OAuth server second, because its issuer names the port. */
async function openPublic(
  core: Core,
  doors: Doors,
  undo: (() => unknown)[]
): Promise<{ readonly url: string; readonly provider: Provider }> {
  const { config, outlet, deps } = doors
  const oauth: { provider: Provider | undefined } = { provider: undefined }
  const app = publicServer(core, doors)
  oauthRoutes(app, { provider: () => oauth.provider, people: core.people, faults: core.faults, outlet, now: deps.realNow })
  undo.push(() => app.close())
  for (const dialect of doors.dialects) {
    dialect.mount(app)
    // Before the port closes: that waits for every stream.
    undo.push(() => dialect.close())
  }
  openStreams(core, app, doors)
  undo.push(() => Promise.all([core.hub.close(), core.marketHub.close()]))
  await app.listen({ host: config.host, port: config.port })
  const url = config.publicUrl ?? urlOf(app, config.host)
  const provider = await doors.openOAuth(url)
  oauth.provider = provider
  return { url, provider }
}

function openStreams({ hub, marketHub, faults, counters }: Core, app: FastifyInstance, { dialects, deps }: Doors): void {
  openGate(app.server, {
    entrances: [
      { path: STREAM_PATH, accept: (request, socket, head) => hub.accept(request, socket, head) },
      { path: MARKET_STREAM_PATH, accept: (request, socket, head) => marketHub.accept(request, socket, head) },
      ...dialects.flatMap(({ entrances }) => entrances)
    ],
    admit: socket =>
      admitStream(socket, {
        fault: faults.none ? undefined : faults.take('stream.connect', NO_FACTS),
        counters,
        wait: ms => deps.timers.wait(ms)
      })
  })
}

function publicServer(core: Core, { outlet, grants, keys, deps }: Doors): FastifyInstance {
  const prefix = deps.newId().slice(0, 8)
  let requests = 0
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    // Brokers take lists of a hundred symbols in a path.
    routerOptions: { maxParamLength: PARAM_CHARS_MAX },
    requestTimeout: REQUEST_MS_MAX,
    forceCloseConnections: true,
    genReqId: () => `${prefix}-${++requests}`
  })
  takeJsonBodies(app, { empty: 'refused' })
  const router = new Router({ ...core, outlet, pass: token => grants.pass(token), onTrouble: deps.onTrouble })
  router.addRefusals(app)
  const cursors = new Cursors(Buffer.from(keys.cursors))
  const parts = { ...core, cursors }
  const routes = [...orderRoutes(parts), ...readRoutes(parts), ...instrumentRoutes(parts), ...hoursRoutes(parts)]
  for (const route of routes) router.add(app, route)
  return app
}

function openFolder(config: HouseConfig, deps: HouseDeps, undo: (() => unknown)[]): Keys {
  if (config.dataDir === null) return keysOf(null, deps.newId)
  makeFolder(config.dataDir)
  undo.push(holdFolder(config.dataDir))
  return keysOf(config.dataDir, deps.newId)
}

async function resetAll(
  { books, news, hub, marketHub, faults, counters, people, pump, market, clock, openAccounts }: Core,
  grants: GrantStore
): Promise<void> {
  // First, because a reset that cannot be written leaves everything as it was.
  books.reset()
  faults.clear()
  counters.reset()
  for (const guest of people.forgetGuests()) grants.endLogin(guest, false)
  news.reset()
  listInstruments({ market, books, clock })
  pump.refill()
  openAccounts()
  hub.reset()
  marketHub.reset()
  await pump.now()
}

function urlOf(app: FastifyInstance, host: string): string {
  const { port } = app.server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** Backwards, all of them, whatever fails. */
async function closeAll(undo: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const close of undo.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the house did not close cleanly')
}
