import type { DemoPlatform } from './demo-platform.ts'

/** A request to our own API that takes longer has failed: a page waits for it. */
const ANSWER_MS_MAX = 10_000
/** Answers of a service that is busy or stopping. They say nothing about the user, so nothing is made again because of them. */
const LATER = new Set([429, 502, 503, 504])

/** What a client of the API needs to make requests for the user. All but the user's id is secret. */
export interface DemoCredentials {
  readonly client_id: string
  readonly client_secret: string
  readonly user_id: string
  readonly user_secret: string
}

/** A user of the demo platform, created by calls to our own API as any platform makes them. */
export class DemoUser {
  readonly credentials: DemoCredentials
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>

  private constructor(url: string, credentials: DemoCredentials) {
    const { client_id, client_secret, user_id, user_secret } = credentials
    this.credentials = credentials
    this.#url = url
    this.#headers = { 'client-id': client_id, 'client-secret': client_secret, 'user-id': user_id, 'user-secret': user_secret }
  }

  /**
   * Creates the user, or gives an existing one a new secret, which is stored nowhere else. Null if the API refuses.
   * @throws Error as {@link DemoUser.call} does
   */
  static async of({ base_url: url, client_id, client_secret }: DemoPlatform, userId: string): Promise<DemoUser | null> {
    const platform = { 'client-id': client_id, 'client-secret': client_secret }
    const rotate = () => call(`${url}/users/${userId}/rotate-secret`, 'POST', platform)
    // It asks first: a refusal would be counted as a failed request, and be the first thing that an operator sees after a restart.
    const isKnown = hasRows(await call(`${url}/users?user_id=${userId}`, 'GET', platform))
    const answer = isKnown ? await rotate() : ((await call(`${url}/users`, 'POST', platform, { user_id: userId })) ?? (await rotate()))
    const secret = textIn(answer, 'user-secret')
    return secret === null ? null : new DemoUser(url, { client_id, client_secret, user_id: userId, user_secret: secret })
  }

  /**
   * The answer; null if the request was refused.
   * @throws Error without an answer in ten seconds, or if the API cannot answer now (429, 502 to 504)
   */
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
    return call(this.#url + path, method, this.#headers, body)
  }

  /** The response as it is. `body` is JSON. Redirects are not followed: the credentials would go with them. */
  request(method: string, path: string, body: string | null, signal: AbortSignal): Promise<Response> {
    const headers = body === null ? this.#headers : { ...this.#headers, 'content-type': 'application/json' }
    return fetch(this.#url + path, { method, headers, body, signal, redirect: 'manual' })
  }
}

/** A text field of an answer. */
export function textIn(answer: unknown, field: string): string | null {
  const value = typeof answer === 'object' && answer !== null ? new Map<string, unknown>(Object.entries(answer)).get(field) : undefined
  return typeof value === 'string' ? value : null
}

function hasRows(page: unknown): boolean {
  return typeof page === 'object' && page !== null && 'data' in page && Array.isArray(page.data) && page.data.length > 0
}

async function call(url: string, method: string, headers: Readonly<Record<string, string>>, body?: object): Promise<unknown> {
  const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
  const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(ANSWER_MS_MAX), ...json })
  if (LATER.has(response.status)) throw new Error(`${method} ${new URL(url).pathname} answered ${response.status}; ask again later`)
  const answer: unknown = await response.json()
  return response.ok ? answer : null
}
