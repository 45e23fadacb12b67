import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { SYMBOL } from './queries.ts'

const HOST = '127.0.0.1'
const BARS = '/api/v1/bars'
const PAGE = 10_000
/** The start of the sandbox's prices. */
const FIRST_MS = Date.UTC(2000, 0, 1)
/** The number of days after which dates fall on the same weekdays again, including leap years: 28 years. */
const CYCLE_MS = 10_227 * 86_400_000

interface Day {
  readonly start: string
}

/** The sandbox as the service sees it: the days of one symbol go back twice as far as the real sandbox's, everything else is passed on. */
export class Front implements AsyncDisposable {
  readonly #server: Server
  #port = 0
  #days: readonly Day[] = []

  private constructor(server: Server) {
    this.#server = server
    server.on('request', (incoming, answer) => this.#answer(incoming, answer))
    server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head))
  }

  static async open(): Promise<Front> {
    const front = new Front(createServer())
    front.#server.listen(0, HOST)
    await once(front.#server, 'listening')
    return front
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the front does not listen')
    return `http://${HOST}:${address.port}`
  }

  /** The address of the sandbox. Set it before anything connects. */
  leadTo(port: number): void {
    this.#port = port
  }

  /** Reads the days of the sandbox and adds the older ones. @param token of a login at the sandbox */
  async lookBack(token: string): Promise<void> {
    const days: Day[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const from = new Date(FIRST_MS).toISOString()
      const query: string = `symbol=${SYMBOL}&interval=1d&limit=${PAGE}&from=${from}${cursor === '' ? '' : `&cursor=${cursor}`}`
      const answer: Response = await fetch(`http://${HOST}:${this.#port}${BARS}?${query}`, {
        headers: { authorization: `Bearer ${token}` }
      })
      const { items, next } = Object(await answer.json())
      days.push(...items)
      cursor = next
    }
    const earlier = days.map(day => ({ ...day, start: new Date(Date.parse(day.start) - CYCLE_MS).toISOString(), closed: true }))
    this.#days = [...earlier.filter(({ start }) => Date.parse(start) < Date.parse(days[0]?.start ?? start)), ...days]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #answer(incoming: IncomingMessage, answer: ServerResponse): void {
    const { pathname, searchParams } = new URL(incoming.url ?? '', this.url)
    if (pathname === BARS && searchParams.get('interval') === '1d' && searchParams.get('symbol') === SYMBOL)
      return void answer.setHeader('content-type', 'application/json').end(this.#page(searchParams))
    const { method, url: path, headers } = incoming
    const passed = request({ host: HOST, port: this.#port, method, path, headers }, found => {
      answer.writeHead(found.statusCode ?? 502, found.headers)
      found.pipe(answer)
    })
    passed.once('error', () => answer.destroy())
    incoming.pipe(passed)
  }

  #page(query: URLSearchParams): string {
    const [from, to] = [query.get('from') ?? '', query.get('to') ?? ''].map(text => Date.parse(text))
    const found = this.#days.filter(({ start }) => Date.parse(start) >= (from ?? 0) && Date.parse(start) < (to ?? 0))
    const first = Number(query.get('cursor') ?? '0')
    const upTo = first + Number(query.get('limit') ?? PAGE)
    const now = new Date().toISOString()
    return JSON.stringify({
      as_of: now,
      sandbox_time: now,
      items: found.slice(first, upTo),
      next: upTo < found.length ? String(upTo) : null
    })
  }

  #upgrade({ method, url, rawHeaders }: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upstream = connect({ host: HOST, port: this.#port, noDelay: true })
    const lines = Array.from({ length: rawHeaders.length / 2 }, (_, at) => `${rawHeaders[2 * at]}: ${rawHeaders[2 * at + 1]}`)
    upstream.write(`${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`)
    upstream.write(head)
    socket.pipe(upstream).pipe(socket)
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket]
    ] as const)
      one.on('error', () => undefined).once('close', () => other.destroy())
  }
}
