// The users of the check, each with a connection and a login of its own at every broker.
import { setTimeout as delay } from 'node:timers/promises'
import type { Json, Login, SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import { PATIENCE_MS } from '@trunkline/testkit/patience'
import { type Page, Walker } from '../acceptance/walker.ts'
import { type Credentials, type Headers, must, platformHeaders } from './client.ts'

export const BROKERS = ['SANDBOX', 'ALPACA', 'TRADIER', 'TRADESTATION'] as const
export type BrokerName = (typeof BROKERS)[number]

const REDIRECT = 'https://platform.example/linked'
const STEPS_MAX = 5
const ATTEMPT_MS = 1_000
const CASH = '9000000000'

/** An account of a user, and the customer of the sandbox whose only account it is. */
export interface UserAccount {
  readonly broker: BrokerName
  readonly connectionId: string
  readonly accountId: string
  readonly login: Login
  /** The login's id at the sandbox. */
  readonly loginId: string
  /** The account's id there. */
  readonly brokerAccount: string
}

export interface CheckedUser {
  readonly userId: string
  readonly headers: Headers
  readonly accounts: readonly UserAccount[]
}

/** Makes a user and connects it at every broker. What a busy machine breaks off is begun again, with another user. */
export async function someUser(url: string, platform: Credentials, sandbox: SandboxProcess, name: string): Promise<CheckedUser> {
  const deadline = performance.now() + PATIENCE_MS
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await connectedUser(url, platform, sandbox, attempt === 1 ? name : `${name}-${attempt}`)
    } catch (cause) {
      if (performance.now() > deadline) throw cause
      await delay(ATTEMPT_MS)
    }
  }
}

/** As a platform and its user do. */
async function connectedUser(url: string, platform: Credentials, sandbox: SandboxProcess, userId: string): Promise<CheckedUser> {
  const created = await must(200, url, 'POST', '/users', platformHeaders(platform), { user_id: userId })
  const headers = { ...platformHeaders(platform), 'user-id': userId, 'user-secret': String(created['user-secret']) }
  const accounts: UserAccount[] = []
  for (const broker of BROKERS) {
    const { login }: { readonly login: Login & { readonly id: string } } = await sandbox.control('POST', '/logins', {
      accounts: [{ kind: 'margin', cash: CASH }]
    })
    const connectionId = await linked(url, headers, broker, login)
    const shown: Json = await must(200, url, 'GET', `/accounts?connection_id=${connectionId}`, headers)
    const brokerAccount = login.accounts[0]?.id
    if (shown.length !== 1 || brokerAccount === undefined) throw new Error(`${broker} shows ${JSON.stringify(shown)}`)
    accounts.push({ broker, connectionId, accountId: shown[0].account_id, login, loginId: login.id, brokerAccount })
  }
  return { userId, headers, accounts }
}

/** Gives the connection's id. */
async function linked(url: string, headers: Headers, broker: BrokerName, { username, password }: Login): Promise<string> {
  const begun = await must(201, url, 'POST', '/connections', headers, { connection_type: 'trade', broker, redirect_url: REDIRECT })
  const walker = new Walker(REDIRECT)
  let page: Page = await walker.open(begun.authorization_url)
  for (let step = 0; step < STEPS_MAX && !page.url.startsWith(REDIRECT); step += 1) {
    const isLogin = /name="username"/.test(page.html)
    page = await walker.submit(page, isLogin ? { username, password, decision: 'approve' } : { decision: 'approve' })
  }
  const connectionId = page.url.startsWith(REDIRECT) ? new URL(page.url).searchParams.get('connection_id') : null
  if (connectionId === null) throw new Error(`the login at ${broker} ended at ${page.url} (${page.status})`)
  return connectionId
}
