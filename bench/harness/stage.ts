import { Client, listOf, type Platform, recordOf, textOf } from '../../packages/server/src/demo/client.ts'
import { connect } from '../../packages/server/src/ops/form-browser.ts'
import { startProgram } from './processes.ts'
import { type Engine, type RunningService, startService } from './service.ts'

/** A service with its sandbox, and users who are connected. Both are processes of their own. */
export interface Stage extends RunningService {
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

export async function openStage(engine: Engine): Promise<Stage> {
  const parts = new AsyncDisposableStack()
  const house = await startProgram('packages/sandbox/src/main.ts', '{"event":"ready"', {
    SANDBOX_PORT: '0',
    SANDBOX_CLIENT_SECRET: SECRET,
    SANDBOX_REDIRECT_URIS: CALLBACK
  })
  parts.use(house)
  const { url: houseUrl, control_url: controlUrl } = JSON.parse(house.ready)
  const service = parts.use(await startService(engine, { houseUrl, houseSecret: SECRET }))
  const user = () => connectedUser(service.platform, controlUrl)
  return { ...service, controlUrl, houseUrl, user, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}

const SECRET = 'a-secret-of-the-benchmark-only-0123456789'
const CALLBACK = 'http://127.0.0.1/connect/callback/sandbox'

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
