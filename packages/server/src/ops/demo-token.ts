import type { DemoPlatform } from './demo-platform.ts'
import { DemoUser, textIn } from './demo-user.ts'
import { connect } from './form-browser.ts'

const USER_ID = 'live-page'
const BROKER = 'SANDBOX'
/** The contract's lifetime of a token. */
const LIFE_MS = 24 * 3_600_000
/** A token that expires sooner is not handed out. */
const LEFT_MS = 3_600_000

interface Held {
  readonly token: string
  readonly connectionId: string
  /** Monotonic. */
  readonly endsAtMs: number
}

/**
 * A market data token of one of the sandbox's customers, for the page that shows the market without a connection of the user. All pages get
 * the same one, because a newer token would end the sessions of the older.
 */
export class DemoToken {
  readonly #monotonicMs: () => number
  #user: DemoUser | null = null
  #held: Held | null = null
  #asking: Promise<string | null> | null = null

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /**
   * Null without a sandbox of our own, or if the API or the sandbox refuses. Concurrent callers get the same token. `isRefused` says that
   * the last one is no longer valid.
   */
  of(demo: DemoPlatform, isRefused: boolean): Promise<string | null> {
    if (isRefused && this.#asking === null) this.#held = null
    this.#asking ??= this.#token(demo)
      .catch(() => null)
      .finally(() => {
        this.#asking = null
      })
    return this.#asking
  }

  async #token(demo: DemoPlatform): Promise<string | null> {
    const [login] = demo.sandbox_logins
    if (login === undefined) return null
    const connectionId = (await this.#connection(demo)) ?? (await this.#connected(demo, login))
    if (connectionId === null) return null
    const held = this.#held
    if (held?.connectionId === connectionId && held.endsAtMs - this.#monotonicMs() > LEFT_MS) return held.token
    const answer = await this.#user?.call('GET', `/connections/${connectionId}/token`)
    const token = textIn(answer, 'access_token')
    if (token !== null) this.#held = { token, connectionId, endsAtMs: this.#monotonicMs() + LIFE_MS }
    return token
  }

  /** Walks the portal and the sandbox's login as a user would. */
  async #connected(demo: DemoPlatform, login: DemoPlatform['sandbox_logins'][number]): Promise<string | null> {
    const answer = await this.#user?.call('POST', '/connections', { connection_type: 'market_data', broker: BROKER })
    const link = textIn(answer, 'authorization_url')
    if (link === null) return null
    await connect(link, BROKER, login)
    return this.#connection(demo)
  }

  /** The user's working connection; null if there is none. */
  async #connection(demo: DemoPlatform): Promise<string | null> {
    const path = '/connections?status=ACTIVE'
    let rows = await this.#user?.call('GET', path)
    if (rows === undefined || rows === null) {
      this.#user = await DemoUser.of(demo, USER_ID)
      rows = await this.#user?.call('GET', path)
    }
    return Array.isArray(rows) ? textIn(rows[0], 'connection_id') : null
  }
}
