// The brokers' own view of each account, read past all proxies.
import type { Json, SandboxProcess } from '@trunkline/testkit/crash/sandbox-process'
import { soon } from '@trunkline/testkit/patience'
import { keyOfTerms } from './ledger.ts'
import type { UserAccount } from './users.ts'

/** A page of the newest. An order may rest while as many others come: such an order is read by its id. */
const NEWEST = 100
/** States in which an order can still change. */
const LIVE: ReadonlySet<unknown> = new Set(['held', 'open', 'partial'])

/** An account as its broker has it. */
export interface BrokerRecords {
  /** Every order that was ever seen, by its terms; each once, unless it was placed twice. */
  readonly orders: ReadonlyMap<string, readonly Json[]>
  readonly quantities: ReadonlyMap<string, number>
  readonly cash: number
}

export class BrokerView {
  readonly #sandbox: SandboxProcess
  readonly #tokens = new Map<string, string>()
  /** By login, then by the order's id. */
  readonly #orders = new Map<string, Map<string, Json>>()

  constructor(sandbox: SandboxProcess) {
    this.#sandbox = sandbox
  }

  async read({ login: { username } }: UserAccount): Promise<BrokerRecords> {
    const token = await this.#token(username)
    const [orders, positions, balances] = await Promise.all([
      this.#items(`orders?limit=${NEWEST}`, token),
      this.#items('positions?limit=500', token),
      this.#items('balances', token)
    ])
    const known = this.#orders.get(username) ?? new Map<string, Json>()
    this.#orders.set(username, known)
    const listed = new Set(orders.map(({ id }) => id))
    const beyond = [...known.values()].filter(({ id, state }) => LIVE.has(state) && !listed.has(id))
    const reread = await Promise.all(beyond.map(async ({ id }) => (await this.#get(`orders/${id}`, token)).order))
    for (const order of [...orders, ...reread]) known.set(order.id, order)
    const termsOf = ({ quantity, limit }: Json) => ({
      quantity: Number(quantity),
      cents: limit === null ? null : Math.round(Number(limit) * 100)
    })
    return {
      orders: Map.groupBy(known.values(), order => keyOfTerms(termsOf(order))),
      quantities: new Map(positions.map(({ symbol, quantity }) => [String(symbol), Number(quantity)])),
      cash: Number(balances[0]?.cash)
    }
  }

  /** Orders that rest at the broker now. */
  async resting({ login: { username } }: UserAccount): Promise<readonly Json[]> {
    return await this.#items(`orders?state=open&limit=${NEWEST}`, await this.#token(username))
  }

  async #token(username: string): Promise<string> {
    const known = this.#tokens.get(username)
    if (known !== undefined) return known
    const { access_token: made } = await this.#sandbox.control('POST', `/logins/${username}/token`, {})
    this.#tokens.set(username, made)
    return made
  }

  async #items(list: string, token: string): Promise<readonly Json[]> {
    return (await this.#get(list, token)).items
  }

  async #get(path: string, token: string): Promise<Json> {
    const url = `http://127.0.0.1:${this.#sandbox.port}/api/v1/${path}`
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: soon() })
    const body: Json = await answer.json()
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${JSON.stringify(body)}`)
    return body
  }
}
