import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '../../packages/server/src/demo/browser.ts'
import { Client, listOf, type Platform, recordOf, textOf } from '../../packages/server/src/demo/client.ts'
import { createDatabase, startPostgres } from '../../packages/testkit/src/postgres/index.ts'
import { type Program, scratch, startProgram } from './processes.ts'

export type Engine = 'postgres' | 'embedded'

/** A service with its sandbox, and a user who is connected. Both are processes of their own. */
export interface Stage extends AsyncDisposable {
  readonly engine: Engine
  readonly service: Program
  readonly platform: Platform
  /** Null on the embedded engine. */
  readonly databaseUrl: string | null
  readonly controlUrl: string
  readonly houseUrl: string
  /** Connects a fresh user and gives what its requests need, with an account that can pay for anything. */
  user(): Promise<ConnectedUser>
}

export interface ConnectedUser {
  readonly headers: Readonly<Record<string, string>>
  readonly accountId: string
  readonly client: Client
  readonly username: string
}

/** Rates far above what a benchmark asks for: limits are not what is measured. */
const UNLIMITED = {
  TRUNKLINE_RATE_LIMIT_PLATFORM: '1000000',
  TRUNKLINE_RATE_LIMIT_USER: '1000000',
  TRUNKLINE_ACCESS_LOG: 'none',
  TRUNKLINE_LOG_LEVEL: 'warn'
}

export async function openStage(engine: Engine): Promise<Stage> {
  const parts = new AsyncDisposableStack()
  const { path } = parts.use(scratch())
  const url = engine === 'postgres' ? await freshDatabase(parts) : null
  const house = await startProgram('packages/sandbox/src/main.ts', '{"event":"ready"', {
    SANDBOX_PORT: '0',
    SANDBOX_CLIENT_SECRET: SECRET,
    SANDBOX_REDIRECT_URIS: CALLBACK
  })
  parts.use(house)
  const { url: houseUrl, control_url: controlUrl } = JSON.parse(house.ready)
  const service = await startProgram('packages/server/src/main.ts', 'Trunkline is ready', {
    ...UNLIMITED,
    TRUNKLINE_PORT: '0',
    TRUNKLINE_DATA_DIR: path,
    TRUNKLINE_SANDBOX_URL: houseUrl,
    TRUNKLINE_SANDBOX_CLIENT_SECRET: SECRET,
    TRUNKLINE_LOG_FILE: join(path, 'trunkline.log'),
    ...(url === null ? {} : { TRUNKLINE_DATABASE_URL: url })
  })
  parts.use(service)
  const demo = recordOf(JSON.parse(readFileSync(join(path, 'demo-platform.json'), 'utf8')))
  const platform = { baseUrl: textOf(demo, 'base_url'), clientId: textOf(demo, 'client_id'), clientSecret: textOf(demo, 'client_secret') }
  const user = () => connectedUser(platform, controlUrl)
  return { engine, service, platform, databaseUrl: url, controlUrl, houseUrl, user, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

const SECRET = 'a-secret-of-the-benchmark-only-0123456789'
const CALLBACK = 'http://127.0.0.1/connect/callback/sandbox'

async function freshDatabase(parts: AsyncDisposableStack): Promise<string> {
  const server = parts.use(await startPostgres())
  return (await createDatabase(server.url)).url
}

async function connectedUser(platform: Platform, controlUrl: string): Promise<ConnectedUser> {
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
