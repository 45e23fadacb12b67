import { Agent } from 'undici'
import { atRate } from '../harness/pace.ts'
import { type ConnectedUser, type Stage, textOf } from '../harness/stage.ts'
import { line, spreadOf } from '../harness/stats.ts'

const RATE = 200
export const USERS = 20
const SUSTAINED = 1_000
const TARGET = { postgres: { median: 2, p99: 8 }, embedded: { median: 2, p99: 8 } }
const SYMBOLS = ['AAPL', 'MSFT', 'SPY', 'QQQ', 'NVDA', 'TSLA', 'AMZN', 'META']

/** The time from sending an order to its reported fill: through the service, and at the sandbox itself, at the same rate. */
export async function orderLatency(stage: Stage, seconds: number): Promise<readonly string[]> {
  const users = await someUsers(stage)
  using agent = new LoadAgent()
  const direct = await directTokens(stage, users)
  await atRate(RATE, 2, (_due, index) => agent.order(stage, users, `warm-${index}`, index))
  const sandbox = spreadOf(await atRate(RATE, seconds, (due, index) => agent.direct(stage, direct, due, index)))
  const service = spreadOf(
    await atRate(RATE, seconds, async (due, index) => (await agent.order(stage, users, `lat-${index}`, index)).filledAt - due)
  )
  const added = { median: service.median - sandbox.median, p99: service.p99 - sandbox.p99 }
  const target = TARGET[stage.engine]
  const of = (ours: number, theirs: number) => `${ours.toFixed(1)} − ${theirs.toFixed(1)} ms`
  return [
    line(
      `POST /orders to fill visible at ${RATE}/s: added median`,
      `${added.median.toFixed(2)} ms (${of(service.median, sandbox.median)})`,
      `at most ${target.median} ms`,
      added.median <= target.median
    ),
    line(
      `… added 99th percentile`,
      `${added.p99.toFixed(1)} ms (${of(service.p99, sandbox.p99)})`,
      `at most ${target.p99} ms`,
      added.p99 <= target.p99
    )
  ]
}

/** The specified number of orders per second, for the specified time: all must fill, and the last as quickly as the first. */
export async function sustained(stage: Stage, seconds: number): Promise<readonly string[]> {
  const users = await someUsers(stage)
  using agent = new LoadAgent()
  const started = performance.now()
  const results = await atRate(SUSTAINED, seconds, async (due, index) => {
    const { filledAt, status } = await agent.order(stage, users, `sus-${index}`, index)
    return { latency: filledAt - due, status }
  })
  const rate = results.length / ((performance.now() - started) / 1_000)
  const { median, p99, max } = spreadOf(results.map(({ latency }) => latency))
  const filled = results.filter(({ status }) => status === 'filled').length
  const reached = stage.engine === 'postgres' ? rate >= 0.98 * SUSTAINED && filled === results.length : null
  return [
    line(
      `orders sustained for ${seconds} s, offered ${SUSTAINED}/s`,
      `${rate.toFixed(0)}/s, ${filled} of ${results.length} filled`,
      stage.engine === 'postgres' ? `${SUSTAINED}/s` : '',
      reached
    ),
    line('… latency median, 99th percentile, worst', `${median.toFixed(1)}, ${p99.toFixed(1)}, ${max.toFixed(0)} ms`, '', null)
  ]
}

/** Orders of one user, one after the other; returns the duration of each, in milliseconds. */
export async function ordersOneByOne(stage: Stage, user: ConnectedUser, name: string, count: number): Promise<readonly number[]> {
  using agent = new LoadAgent()
  const found: number[] = []
  for (let index = 0; index < count; index += 1) {
    const started = performance.now()
    await agent.order(stage, [user], `${name}-${index}`, index)
    found.push(performance.now() - started)
  }
  return found
}

export async function someUsers(stage: Stage): Promise<readonly ConnectedUser[]> {
  const users: ConnectedUser[] = []
  for (let index = 0; index < USERS; index += 1) users.push(await stage.user())
  return users
}

interface DirectAccount {
  readonly token: string
  readonly account: string
}

/** What sends orders of these logins to the sandbox itself. */
export async function directTokens(
  stage: Pick<Stage, 'controlUrl' | 'sandboxUrl'>,
  users: readonly Pick<ConnectedUser, 'username'>[]
): Promise<readonly DirectAccount[]> {
  return Promise.all(
    users.map(async ({ username }) => {
      const made = await fetch(`${stage.controlUrl}/logins/${username}/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}'
      })
      const { access_token: token } = Object(await made.json())
      const accounts = await fetch(`${stage.sandboxUrl}/api/v1/accounts`, { headers: { authorization: `Bearer ${token}` } })
      return { token: String(token), account: String(Object(await accounts.json()).items[0].id) }
    })
  )
}

/** Sends orders over persistent connections, with minimal overhead. */
export class LoadAgent implements Disposable {
  readonly #agent = new Agent({ connections: 100, pipelining: 1 })
  readonly #run = crypto.randomUUID().slice(0, 8)

  async order(
    stage: Pick<Stage, 'platform'>,
    users: readonly ConnectedUser[],
    name: string,
    index: number
  ): Promise<{ readonly filledAt: number; readonly status: string }> {
    const user = users[index % users.length]
    if (user === undefined) throw new Error('no user')
    const body = {
      account_id: user.accountId,
      cl_order_id: `${this.#run}-${name}`,
      broker: 'SANDBOX',
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol: symbolOf(index),
      order_qty: '1'
    }
    const answer = Object(await this.#post(stage.platform.baseUrl, '/orders', user.headers, body))
    let status = String(answer.normalized_status)
    for (let tries = 0; tries < 200 && (status === 'pending' || status === 'working'); tries += 1) {
      const rows = await user.client.list(`/orders?account_id=${user.accountId}&limit=50`)
      const row = rows.find(found => textOf(found, 'order_id') === String(answer.order_id))
      if (row !== undefined) status = textOf(row, 'normalized_status')
    }
    return { filledAt: performance.now(), status }
  }

  async direct(stage: Stage, accounts: readonly DirectAccount[], dueAt: number, index: number): Promise<number> {
    const { token, account } = accounts[index % accounts.length] ?? { token: '', account: '' }
    const body = {
      account,
      symbol: symbolOf(index),
      direction: 'buy',
      kind: 'market',
      lifetime: 'day',
      quantity: '1',
      client_order_id: `${this.#run}-${index}`
    }
    await this.#post(stage.sandboxUrl, '/api/v1/orders', { authorization: `Bearer ${token}` }, body)
    return performance.now() - dueAt
  }

  async #post(origin: string, path: string, headers: Readonly<Record<string, string>>, body: object): Promise<unknown> {
    const request = {
      origin,
      path,
      method: 'POST' as const,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    }
    const response = await this.#agent.request(request)
    const answer = await response.body.json()
    if (response.statusCode !== 201) throw new Error(`${path} answered ${response.statusCode}: ${JSON.stringify(answer).slice(0, 300)}`)
    return answer
  }

  [Symbol.dispose](): void {
    void this.#agent.close()
  }
}

function symbolOf(index: number): string {
  return SYMBOLS[index % SYMBOLS.length] ?? 'AAPL'
}
