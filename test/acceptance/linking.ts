// Linking the sandbox broker to a user, the way a platform and its user do it.
import assert from 'node:assert/strict'
import type { Api, Person } from './api.ts'
import { type Place, Walker, wordsOf } from './walker.ts'

/** Who logs in at the broker: one of the people it begins with, by number, or somebody made since. */
export type Login = number | { readonly username: string; readonly password: string }

export const REDIRECT = 'https://platform.example/linked'

/** Begins a connection and gives the link for the user. */
export async function begin(api: Api, person: Person, body: Readonly<Record<string, unknown>>): Promise<string> {
  const answer = await api.call('POST', '/connections', { headers: api.as(person), body: { redirect_url: REDIRECT, ...body } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body.authorization_url
}

/** Walks the portal and the broker's login to the end, and gives the address the user was sent to. */
export async function approve(api: Api, link: string, login: Login = 0): Promise<URL> {
  const known = typeof login === 'number' ? api.service.demo.sandbox_logins[login] : login
  const { username, password } = known ?? assert.fail('no such login')
  const walker = new Walker(REDIRECT)
  let place: Place = await walker.open(link)
  place = await walker.submit(place, { decision: 'approve' })
  for (let step = 0; step < 4 && !place.url.startsWith(REDIRECT); step++) {
    const isLogin = /name="username"/.test(place.html)
    place = await walker.submit(place, isLogin ? { username, password, decision: 'approve' } : { decision: 'approve' })
  }
  assert.ok(place.url.startsWith(REDIRECT), `ended at ${place.url} (${place.status}): ${wordsOf(place)}`)
  return new URL(place.url)
}

/** A connection, made from beginning to end. Gives its id. */
export async function link(api: Api, person: Person, connectionType = 'trade', login: Login = 0, broker = 'SANDBOX'): Promise<string> {
  const ended = await approve(api, await begin(api, person, { connection_type: connectionType, broker }), login)
  return ended.searchParams.get('connection_id') ?? assert.fail(`no connection_id in ${ended.href}`)
}
