import { CLIENT_SECRET, CrashPlatform, type CrashUser, SandboxProcess } from '../../packages/testkit/src/crash/index.ts'
import { pin } from '../harness/pinning.ts'
import { type Engine, type RunningService, startService } from '../harness/service.ts'
import { startWorker, type Worker } from '../harness/workers.ts'
import type { DriverRequests } from './driver-requests.ts'

/** The service as a program, a real sandbox behind the driver's front, and a user connected there. */
export interface Scene extends AsyncDisposable {
  readonly running: RunningService
  readonly driver: Worker<DriverRequests>
  readonly sandboxUrl: string
  /** The address of the market data stream. */
  readonly streamUrl: string
  /** The symbols of the sandbox, shares first. */
  readonly symbols: readonly string[]
  /** A market data token of the user. */
  readonly token: string
}

export interface SceneOptions {
  readonly engine: Engine
  /** Node's flags for the service. */
  readonly flags: readonly string[]
  readonly symbols: number
}

export async function openScene({ engine, flags, symbols: wanted }: SceneOptions): Promise<Scene> {
  await using undone = new AsyncDisposableStack()
  const driver = undone.use(startWorker<DriverRequests>('bench/market/driver.ts'))
  const { url: sandboxUrl } = await driver.ask('open', null)
  const sandbox = undone.use(await SandboxProcess.start(sandboxUrl))
  await driver.ask('lead', { port: sandbox.port })
  const running = undone.use(await startService(engine, { sandboxUrl, sandboxSecret: CLIENT_SECRET, flags }))
  pin(running.service.pid, 'measured')
  const { baseUrl, clientId, clientSecret } = running.platform
  const platform = new CrashPlatform(() => ({ base_url: baseUrl, client_id: clientId, client_secret: clientSecret }))
  const login = await sandbox.login()
  const user = await platform.user('market-1', login)
  const symbols = await listed(sandbox, login.username, wanted)
  const token = await tokenOf(user)
  const parts = undone.move()
  return {
    running,
    driver,
    sandboxUrl,
    streamUrl: `${baseUrl.replace(/^http/, 'ws')}/market-data/stream`,
    symbols,
    token,
    [Symbol.asyncDispose]: () => parts.disposeAsync()
  }
}

async function tokenOf(user: CrashUser): Promise<string> {
  const connections = await user.call('GET', '/connections')
  const { status, body } = await user.call('GET', `/connections/${String(connections.body[0]?.connection_id)}/token`)
  if (status !== 200 || typeof body.access_token !== 'string') throw new Error(`no market data token: ${status} ${JSON.stringify(body)}`)
  return body.access_token
}

async function listed(sandbox: SandboxProcess, username: string, count: number): Promise<readonly string[]> {
  const { access_token: token } = await sandbox.control('POST', `/logins/${username}/token`, {})
  const answer = await fetch(`http://127.0.0.1:${sandbox.port}/api/v1/instruments?limit=${count}`, {
    headers: { authorization: `Bearer ${token}` }
  })
  const { items } = Object(await answer.json())
  const symbols = Array.isArray(items) ? items.map(item => String(item.symbol)) : []
  if (symbols.length < count) throw new Error(`the sandbox lists ${symbols.length} symbols, ${count} are needed`)
  return symbols
}
