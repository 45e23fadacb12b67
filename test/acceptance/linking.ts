// Linking the sandbox broker to a user, the way a platform and its user do it.
import assert from 'node:assert/strict'
import { Api, type Body, type User } from './api.ts'
import type { RunningService } from './harness.ts'
import { type Page, textOf, Walker } from './walker.ts'

/** Who logs in at the broker: one of the customers it begins with, by number, or somebody made since. */
export type Login = number | { readonly username: string; readonly password: string }

export const REDIRECT = 'https://platform.example/linked'

/** Begins a connection and gives the link for the user. */
export async function begin(api: Api, user: User, body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await api.call('POST', '/connections', { headers: api.as(user), body: { redirect_url: REDIRECT, ...body } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.authorization_url
}

/** Walks the portal and the broker's login to the end, and gives the address the user was sent to. */
export async function approve(api: Api, link: string, login: Login = 0): Promise<URL> {
  const known = typeof login === 'number' ? api.service.demo.sandbox_logins[login] : login
  const { username, password } = known ?? assert.fail('no such login')
  const walker = new Walker(REDIRECT)
  let page: Page = await walker.open(link)
  page = await walker.submit(page, { decision: 'approve' })
  for (let step = 0; step < 4 && !page.url.startsWith(REDIRECT); step++) {
    const isLogin = /name="username"/.test(page.html)
    page = await walker.submit(page, isLogin ? { username, password, decision: 'approve' } : { decision: 'approve' })
  }
  assert.ok(page.url.startsWith(REDIRECT), `ended at ${page.url} (${page.status}): ${textOf(page)}`)
  return new URL(page.url)
}

/** A connection, made from beginning to end. Gives its id. */
export async function link(api: Api, user: User, connectionType = 'trade', login: Login = 0, broker = 'SANDBOX'): Promise<string> {
  const ended = await approve(api, await begin(api, user, { connection_type: connectionType, broker }), login)
  return ended.searchParams.get('connection_id') ?? assert.fail(`no connection_id in ${ended.href}`)
}

export interface Connected {
  readonly api: Api
  readonly ada: User
  readonly connectionId: string
  /** Her margin account. */
  readonly accountId: string
}

/** The user `ada` of a service that was just started, with a trading connection to the sandbox broker. */
export async function connectAda(service: RunningService): Promise<Connected> {
  const api = await Api.of(service)
  const ada = await api.user('ada')
  const connectionId = await link(api, ada)
  const { body } = await api.call('GET', '/accounts', { headers: api.as(ada) })
  const accountId = body.find((row: Body) => row.account_type === 'margin').account_id
  return { api, ada, connectionId, accountId }
}
