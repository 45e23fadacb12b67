import type { DemoPlatform } from './demo-platform.ts'

const USER_ID = 'first-user'

/**
 * A portal link ready to click, for a user made for it; asked for over our own API, as any platform would. Null when the API refuses, or
 * is being stopped: the link is a courtesy. The user's secret is made anew each time, and nobody keeps it.
 */
export async function demoLink(demo: DemoPlatform): Promise<string | null> {
  try {
    return await linkFor(demo)
  } catch {
    return null
  }
}

async function linkFor({ base_url: url, client_id, client_secret }: DemoPlatform): Promise<string | null> {
  const platform = { 'client-id': client_id, 'client-secret': client_secret }
  const secret =
    (await post(`${url}/users`, platform, { user_id: USER_ID }, 'user-secret')) ??
    (await post(`${url}/users/${USER_ID}/rotate-secret`, platform, null, 'user-secret'))
  if (secret === null) return null
  const user = { ...platform, 'user-id': USER_ID, 'user-secret': secret }
  return await post(`${url}/connections`, user, { connection_type: 'trade' }, 'authorization_url')
}

/** That field of the answer; null when there is none, or the request was refused. */
async function post(url: string, headers: Readonly<Record<string, string>>, body: object | null, field: string): Promise<string | null> {
  const json = body === null ? {} : { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
  const response = await fetch(url, { method: 'POST', headers, ...json })
  const answer: unknown = await response.json()
  const value = typeof answer === 'object' && answer !== null ? new Map<string, unknown>(Object.entries(answer)).get(field) : undefined
  return response.ok && typeof value === 'string' ? value : null
}
