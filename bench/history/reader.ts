import { WebSocket } from 'ws'
import { type Query, SYMBOL } from './queries.ts'

const ANSWER_MS = 60_000
/** Maximum gap between bars of a backfill. */
const QUIET_MS = 1_000
const PAYLOAD_MAX = 64 * 1024 * 1024

/** The address of a service, and how its user reads past bars there. */
export interface Access {
  readonly baseUrl: string
  readonly connectionId: string
  /** Headers of the user's requests over REST. */
  readonly headers: Readonly<Record<string, string>>
  /** Token for its market data. */
  readonly token: string
}

/** Sends the query and returns the number of bars. @throws Error with the service's message if it refused */
export async function barsOf(access: Access, query: Query): Promise<number> {
  if (query.by === 'REST') return await overRest(access, query)
  using session = await Session.open(access)
  return await session.bars(query)
}

async function overRest({ baseUrl, connectionId, headers }: Access, query: Extract<Query, { by: 'REST' }>): Promise<number> {
  const { interval, start, end, limit } = query
  const params = new URLSearchParams({ symbol: SYMBOL, interval, start, end, limit: String(limit) })
  const answer = await fetch(`${baseUrl}/connections/${connectionId}/market-data/bars?${params}`, { headers })
  const { bars } = Object(await answer.json())
  if (!Array.isArray(bars)) throw new Error(`${query.what}: ${answer.status}`)
  return bars.length
}

/** A session of the market data stream that counts what it receives. */
export class Session implements Disposable {
  readonly #socket: WebSocket
  readonly #closed = new Map<string, number>()
  readonly #answers = new Map<string, Record<string, unknown>>()
  #lastId = 0
  #lastAt = 0
  #stirred: () => void = () => undefined

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', data => this.#onMessage(Object(JSON.parse(String(data)))))
  }

  static async open({ baseUrl, token }: Access): Promise<Session> {
    const url = `${baseUrl.replace(/^http/, 'ws')}/market-data/stream`
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: PAYLOAD_MAX })
    await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject))
    const session = new Session(socket)
    await session.#answer({ action: 'authenticate', access_token: token })
    return session
  }

  /** Requests past bars and returns their number; a subscription ends when it has as many as requested, or when no more arrive. */
  async bars(query: Exclude<Query, { by: 'REST' }>): Promise<number> {
    if (query.by === 'snapshot') {
      const { interval, start, end } = query
      const command = { action: 'snapshot', symbol: SYMBOL, data_type: 'bars', interval, start_time: start, end_time: end }
      const { data } = await this.#answer(command)
      return Array.isArray(data) ? data.length : 0
    }
    const { interval, session, count } = query
    const command = { action: 'subscribe', channel: 'bars', symbol: SYMBOL, interval, session, backfill_nbars: count }
    const id = String((await this.#answer(command)).sub_id)
    await this.#until(`${count} bars`, () => (this.#closed.get(id) ?? 0) >= count || this.#isQuiet(id))
    return this.#closed.get(id) ?? 0
  }

  [Symbol.dispose](): void {
    this.#socket.terminate()
  }

  async #answer(request: object): Promise<Record<string, unknown>> {
    this.#lastId += 1
    const id = String(this.#lastId)
    this.#socket.send(JSON.stringify({ ...request, request_id: id }))
    await this.#until(JSON.stringify(request), () => this.#answers.has(id))
    const answer = this.#answers.get(id) ?? {}
    if (answer.type === 'error') throw new Error(`the service refused: ${JSON.stringify(answer)}`)
    return answer
  }

  /** Some arrived, and no more do: history has fewer than requested. */
  #isQuiet(id: string): boolean {
    return this.#closed.has(id) && performance.now() - this.#lastAt > QUIET_MS
  }

  #onMessage(message: Record<string, unknown>): void {
    if (typeof message.request_id === 'string') this.#answers.set(message.request_id, message)
    else if (message.st === 'c') {
      const id = String(message.sub_id)
      this.#closed.set(id, (this.#closed.get(id) ?? 0) + 1)
      this.#lastAt = performance.now()
    }
    this.#stirred()
  }

  async #until(what: string, isSo: () => boolean): Promise<void> {
    const deadline = performance.now() + ANSWER_MS
    while (!isSo()) {
      const left = deadline - performance.now()
      if (left <= 0) throw new Error(`not within ${ANSWER_MS} ms: ${what}; ${[...this.#closed.values()]} bars`)
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#stirred = resolve
      const patience = setTimeout(resolve, Math.min(left, QUIET_MS))
      await promise
      clearTimeout(patience)
    }
  }
}
