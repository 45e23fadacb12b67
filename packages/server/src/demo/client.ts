/** The demo's API client. It uses only the public API over HTTP, like any platform. */

export interface Platform {
  readonly baseUrl: string
  readonly clientId: string
  readonly clientSecret: string
}

type Json = Readonly<Record<string, unknown>>

/** An error response: its status and the service's message. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Calls the REST API as a platform, and for a user if one is given. */
export class Client {
  readonly #platform: Platform
  readonly #user: Readonly<Record<string, string>>

  constructor(platform: Platform, user: { readonly userId: string; readonly userSecret: string } | null = null) {
    this.#platform = platform
    this.#user = user === null ? {} : { 'user-id': user.userId, 'user-secret': user.userSecret }
  }

  /** @throws Refused */
  async call(method: string, path: string, body?: Json): Promise<unknown> {
    const { baseUrl, clientId, clientSecret } = this.#platform
    const headers = { 'client-id': clientId, 'client-secret': clientSecret, ...this.#user }
    const init =
      body === undefined
        ? { method, headers }
        : { method, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
    const response = await fetch(baseUrl + path, init).catch((cause: unknown) => {
      throw new Error(`No service answers at ${baseUrl}. Start it in another terminal: npm start`, { cause })
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Refused(response.status, `${method} ${path.split('?')[0]}: ${textOf(recordOf(answer), 'message')}`)
    return answer
  }

  async get(path: string): Promise<Json> {
    return recordOf(await this.call('GET', path))
  }

  async list(path: string): Promise<readonly Json[]> {
    const answer = await this.call('GET', path)
    const rows = Array.isArray(answer) ? answer : recordOf(answer).data
    return Array.isArray(rows) ? rows.map(recordOf) : []
  }

  async post(path: string, body: Json): Promise<Json> {
    return recordOf(await this.call('POST', path, body))
  }

  async patch(path: string, body: Json): Promise<Json> {
    return recordOf(await this.call('PATCH', path, body))
  }

  async delete(path: string): Promise<Json> {
    return recordOf(await this.call('DELETE', path))
  }
}

export function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

/** A field as text; empty if it is absent or null. */
export function textOf(record: Json, name: string): string {
  const value = record[name]
  return value === undefined || value === null ? '' : String(value)
}

export function listOf(record: Json, name: string): readonly Json[] {
  const value = record[name]
  return Array.isArray(value) ? value.map(recordOf) : []
}
