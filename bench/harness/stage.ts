import { Client, listOf, type Platform, recordOf, textOf } from '../../packages/server/src/demo/client.ts'
import { connect } from '../../packages/server/src/ops/form-browser.ts'
import { startProgram } from './processes.ts'
import { type Engine, type RunningService, type ServiceOptions, startService } from './service.ts'

/** A service with its sandbox, and connected users. Both are separate processes. */
export interface Stage extends RunningService {
  readonly controlUrl: string
  readonly sandboxUrl: string
  /** Connects a new user and returns what its requests need, with an account that can pay for anything. */
  user(): Promise<ConnectedUser>
}

export interface ConnectedUser {
  readonly headers: Readonly<Record<string, string>>
  readonly accountId: string
  readonly client: Client
  readonly username: string
}

export async function openStage(engine: Engine, options: Pick<ServiceOptions, 'env' | 'flags'> = {}): Promise<Stage> {
  await using undone = new AsyncDisposableStack()
  const sandbox = undone.use(await startSandbox())
  const service = undone.use(await startService(engine, { ...sandbox.serviceOptions, ...options }))
  const user = () => connectedUser(service.platform, sandbox.controlUrl)
  const parts = undone.move()
  const { controlUrl } = sandbox
  return { ...service, controlUrl, sandboxUrl: sandbox.serviceOptions.sandboxUrl, user, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

/** The sandbox brokerage as a program. */
export interface Sandbox extends AsyncDisposable {
  readonly controlUrl: string
  /** The settings that connect a service to it. */
  readonly serviceOptions: Pick<ServiceOptions, 'sandboxUrl' | 'sandboxSecret'>
}

/** @param env settings of the sandbox besides those of every bench */
export async function startSandbox(env: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
  const sandbox = await startProgram('packages/sandbox/src/main.ts', '{"event":"ready"', {
    SANDBOX_PORT: '0',
    SANDBOX_CLIENT_SECRET: SECRET,
    SANDBOX_REDIRECT_URIS: CALLBACK,
    ...env
  })
  const { url: sandboxUrl, control_url: controlUrl } = JSON.parse(sandbox.ready)
  return { controlUrl, serviceOptions: { sandboxUrl, sandboxSecret: SECRET }, [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose]() }
}

const SECRET = 'a-secret-of-the-benchmark-only-0123456789'
const CALLBACK = 'http://127.0.0.1/connect/callback/sandbox'

/** Connects a new user at the sandbox with this control API. */
export async function connectedUser(platform: Platform, controlUrl: string): Promise<ConnectedUser> {
  const username = `bench-${crypto.randomUUID().slice(0, 8)}`
  const made = await fetch(`${controlUrl}/logins`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, accounts: [{ kind: 'margin', cash: '500000000' }] })
  })
  const answer = recordOf(await made.json())
  const password = textOf(answer, 'password') || textOf(recordOf(answer.login), 'password')
  const { 'user-secret': secret } = await new Client(platform).post('/users', { user_id: username })
  const client = new Client(platform, { userId: username, userSecret: String(secret) })
  const link = textOf(await client.post('/connections', { connection_type: 'trade', broker: 'SANDBOX' }), 'authorization_url')
  const outcome = await connect(link, 'SANDBOX', { username, password })
  const [account] = await client.list('/accounts')
  if (account === undefined) throw new Error(`the user could not be connected: ${outcome}`)
  const headers = {
    'client-id': platform.clientId,
    'client-secret': platform.clientSecret,
    'user-id': username,
    'user-secret': String(secret)
  }
  return { headers, accountId: textOf(account, 'account_id'), client, username }
}

export { listOf, textOf }
