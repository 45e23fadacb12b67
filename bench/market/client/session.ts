import { RawSocket } from '../../stream/client/raw-socket.ts'
import { TradeChecks } from './trade-checks.ts'

const ANSWER_MS = 60_000
/** Below the burst that the service allows. */
const SUBSCRIBED_AT_ONCE = 100

export interface Subscription {
  readonly channel: string
  readonly symbol: string
}

/** Called for each trade; the bytes are reused afterwards. */
export type UpdateHandler = (bytes: Buffer, start: number, end: number) => void

/** One client of the market data stream: authenticates and subscribes like any client, then passes every trade on. */
export class MarketClient implements Disposable {
  readonly #socket: RawSocket
  readonly #answers = new Map<string, Record<string, unknown>>()
  #failure: string | null = null
  #stirred: () => void = () => undefined

  private constructor(url: string, opened: RawSocket) {
    this.#socket = opened
    void opened.closed.then(code => {
      this.#failure ??= `${url} closed the session with ${code}`
      this.#stirred()
    })
  }

  /** @param token of a connection; null for a floor, which needs none */
  static async open(url: string, token: string | null, onUpdate: UpdateHandler): Promise<MarketClient> {
    const early: string[] = []
    let client: MarketClient | null = null
    const socket = await RawSocket.open({
      url,
      onMessage(bytes, start, end) {
        if (TradeChecks.isTrade(bytes, start)) return onUpdate(bytes, start, end)
        const text = bytes.toString('utf8', start, end)
        if (client === null) early.push(text)
        else client.#onMessage(text)
      }
    })
    client = new MarketClient(url, socket)
    for (const text of early) client.#onMessage(text)
    if (token !== null) {
      client.#send({ action: 'authenticate', access_token: token, request_id: 'hello' })
      await client.#answered('hello')
    }
    return client
  }

  /** A failure outside of requests: an unexpected error, or the end of the session. */
  get failure(): string | null {
    return this.#failure
  }

  /** Returns the `sub_id` of each, in order. @throws Error with the service's message if it refused one */
  async subscribe(subscriptions: readonly Subscription[]): Promise<readonly number[]> {
    const subIds: number[] = []
    for (let from = 0; from < subscriptions.length; from += SUBSCRIBED_AT_ONCE) {
      const some = subscriptions.slice(from, from + SUBSCRIBED_AT_ONCE)
      some.forEach((one, index) => {
        this.#send({ action: 'subscribe', ...one, request_id: `subscribe ${from + index}` })
      })
      for (const index of some.keys()) subIds.push(Number((await this.#answered(`subscribe ${from + index}`)).sub_id))
    }
    return subIds
  }

  [Symbol.dispose](): void {
    this.#socket[Symbol.dispose]()
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  #onMessage(text: string): void {
    const message = Object(JSON.parse(text))
    if (typeof message.request_id === 'string') this.#answers.set(message.request_id, message)
    else this.#failure ??= text
    this.#stirred()
  }

  async #answered(requestId: string): Promise<Record<string, unknown>> {
    const deadline = performance.now() + ANSWER_MS
    for (;;) {
      const answer = this.#answers.get(requestId)
      if (answer !== undefined) {
        this.#answers.delete(requestId)
        if (answer.type === 'error') throw new Error(`the service refused: ${JSON.stringify(answer)}`)
        return answer
      }
      if (this.#failure !== null) throw new Error(this.#failure)
      const { promise, resolve } = Promise.withResolvers<void>()
      const patience = setTimeout(resolve, deadline - performance.now())
      this.#stirred = resolve
      await promise
      clearTimeout(patience)
      if (performance.now() > deadline) throw new Error(`no answer to ${requestId} within ${ANSWER_MS} ms`)
    }
  }
}
