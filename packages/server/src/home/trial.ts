// Requests of the documentation's pages to our own API, with the credentials of the demo platform and of a user made for them.
import type { DemoPlatform } from '../ops/demo-platform.ts'
import { type DemoCredentials, DemoUser, textIn } from '../ops/demo-user.ts'
import { connect } from '../ops/form-browser.ts'

const USER_ID = 'reference'
const BROKER = 'SANDBOX'
const METHODS: readonly unknown[] = ['GET', 'POST', 'PATCH', 'DELETE']
const PATH_CHARS_MAX = 2_048
const ANSWER_CHARS_MAX = 262_144
const ANSWER_MS_MAX = 30_000
const ACTIVE = '/connections?status=ACTIVE'

/** What a page sends. `body` is JSON, or empty. */
export interface TrialRequest {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface TrialAnswer {
  readonly status: number
  /** Cut at 256 Ki characters. */
  readonly text: string
}

/** What the user has, for examples that name one. Null: it has none. */
export interface TrialIds {
  readonly user_id: string
  readonly connection_id: string | null
  readonly account_id: string | null
  readonly order_id: string | null
  /** A date on which options of the examples' symbol expire. */
  readonly expiration: string | null
}

interface Prepared {
  readonly user: DemoUser
  readonly isConnected: boolean
}

export class Trial {
  /** Its secret was valid when it was used last. */
  #user: DemoUser | null = null
  #preparing: Promise<Prepared | null> | null = null

  /**
   * Creates the user, and connects it if it has no connection that works. Null if the API refuses.
   * @throws Error if it cannot answer now
   */
  async ids(demo: DemoPlatform): Promise<TrialIds | null> {
    const user = (await this.#prepared(demo))?.user ?? null
    if (user === null) return null
    const [connections, accounts, orders] = await Promise.all([ACTIVE, '/accounts', '/orders?limit=1'].map(path => user.call('GET', path)))
    const connectionId = firstId(connections, 'connection_id')
    const dates = connectionId && (await user.call('GET', `/connections/${connectionId}/market-data/expirations?symbol=SPY`))
    return {
      user_id: USER_ID,
      connection_id: connectionId,
      account_id: firstId(accounts, 'account_id'),
      order_id: firstId(listIn(orders, 'data'), 'order_id'),
      expiration: lastText(listIn(dates, 'expirations'))
    }
  }

  /**
   * Credentials of the user that are valid now, for a page that trades in the user's practice account. The user is made, and connected,
   * again where it has to be. Null if the API or the sandbox refuses, which may pass. @throws Error if one of them cannot answer now
   */
  async credentials(demo: DemoPlatform): Promise<DemoCredentials | null> {
    const prepared = await this.#prepared(demo)
    return prepared?.isConnected === true ? prepared.user.credentials : null
  }

  /** Null if the user cannot be made, or this is no request to the API, as {@link isPath} says. */
  async send(demo: DemoPlatform, { method, path, body }: TrialRequest): Promise<TrialAnswer | null> {
    if (!METHODS.includes(method) || !isPath(path, demo.base_url)) return null
    const user = this.#user ?? (await this.#prepared(demo))?.user ?? null
    if (user === null) return null
    const response = await user.request(method, path, body === '' ? null : body, AbortSignal.timeout(ANSWER_MS_MAX))
    // Its secret was replaced by a request of this page: the next one makes another.
    if (response.status === 401 || path.startsWith(`/users/${USER_ID}`)) this.#user = null
    return { status: response.status, text: (await response.text()).slice(0, ANSWER_CHARS_MAX) }
  }

  /** Concurrent callers get the same user. */
  #prepared(demo: DemoPlatform): Promise<Prepared | null> {
    this.#preparing ??= this.#prepare(demo).finally(() => {
      this.#preparing = null
    })
    return this.#preparing
  }

  async #prepare(demo: DemoPlatform): Promise<Prepared | null> {
    let user = this.#user
    let connections: unknown = (await user?.call('GET', ACTIVE)) ?? null
    if (connections === null) {
      // There is none yet, or its secret, or that of the platform, was replaced since.
      user = await DemoUser.of(demo, USER_ID)
      this.#user = user
      connections = (await user?.call('GET', ACTIVE)) ?? null
    }
    if (user === null) return null
    const [login] = demo.sandbox_logins
    // Asked each time: a connection breaks, and a sandbox that could not be used at first can be used later.
    if (login !== undefined && firstId(connections, 'connection_id') === null) {
      const link = textIn(await user.call('POST', '/connections', { connection_type: 'trade', broker: BROKER }), 'authorization_url')
      if (link !== null) await connect(link, BROKER, login)
      connections = await user.call('GET', ACTIVE)
    }
    return { user, isConnected: firstId(connections, 'connection_id') !== null }
  }
}

/** Whether it is a path of the API at this address, and nothing that leads elsewhere. */
export function isPath(path: string, baseUrl: string): boolean {
  if (!/^\/(?!\/)[\x21-\x7e]*$/.test(path) || path.length > PATH_CHARS_MAX || !URL.canParse(baseUrl + path)) return false
  return new URL(baseUrl + path).origin === new URL(baseUrl).origin
}

function firstId(rows: unknown, name: string): string | null {
  return Array.isArray(rows) ? textIn(rows[0], name) : null
}

function listIn(answer: unknown, name: string): unknown {
  return typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : null
}

/** Of dates, the one that is longest to come: the first may be over as soon as a day ends. */
function lastText(list: unknown): string | null {
  const last: unknown = Array.isArray(list) ? list.at(-1) : null
  return typeof last === 'string' ? last : null
}
