import { Agent } from 'undici'
import type { ConnectedUser } from '../harness/stage.ts'
import { sharedNow } from '../stream/client/stamps.ts'

/** An order, by the name that its arrival at an endpoint has, and when it was answered. */
export interface Placed {
  readonly name: string
  /** Milliseconds of `sharedNow`. */
  readonly answeredAt: number
}

/** Places orders over persistent connections. */
export class Orders implements AsyncDisposable {
  readonly #agent = new Agent({ connections: 100, pipelining: 1 })
  readonly #baseUrl: string
  #count = 0

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  async place(user: ConnectedUser | undefined): Promise<Placed> {
    if (user === undefined) throw new Error('no user')
    this.#count += 1
    const order = {
      account_id: user.accountId,
      cl_order_id: `webhook-${this.#count}`,
      broker: 'SANDBOX',
      side: 'BUY',
      order_type: 'MKT',
      order_tif: 'DAY',
      symbol: 'SPY',
      order_qty: '1'
    }
    const { statusCode, body } = await this.#agent.request({
      origin: this.#baseUrl,
      path: '/orders',
      method: 'POST',
      headers: { ...user.headers, 'content-type': 'application/json' },
      body: JSON.stringify(order)
    })
    const text = await body.text()
    const answeredAt = sharedNow()
    if (statusCode !== 201) throw new Error(`an order was answered with ${statusCode}: ${text.slice(0, 300)}`)
    const { order_id: id, normalized_status: status } = JSON.parse(text)
    return { name: `${id} ${status}`, answeredAt }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.close()
  }
}
