/** An HTTP proxy that spoils answers, request by request: for tests of clients. Which fault a request meets is asked for each. */

import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

export const ANSWER_FAULTS = [
  /** The connection ends before the service has the request. */
  'dropped_before',
  /** The service has carried the request out; the connection ends without an answer. */
  'dropped_after',
  /** Half of the answer's body comes, then the connection ends. */
  'cut',
  /** The answer never comes; the connection stays. */
  'late',
  /** The request reaches the service twice at the same time; the answer is that of the first. */
  'doubled',
  /** A 502 comes at once, and the request reaches the service only later. */
  'overtaken',
  'status_500',
  'status_502',
  /** JSON of somebody else, with the status of the answer. */
  'garbage',
  /** A refusal that is not the service's, in nearly its form. */
  'refused'
] as const
export type AnswerFault = (typeof ANSWER_FAULTS)[number]

const HOST = '127.0.0.1'
const OVERTAKEN_MS = 60
const REFUSAL = Buffer.from('{"code":"connection_broken","message":"The upstream connection is broken.","request_id":"unknown"}')

interface Whole {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export class AnswerFaults implements AsyncDisposable {
  readonly #server: Server
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 })
  readonly #target: URL
  readonly #faultOf: (method: string, path: string) => AnswerFault | null
  readonly #underWay = new Set<Promise<void>>()
  readonly counts = new Map<AnswerFault, number>()

  private constructor(server: Server, target: URL, faultOf: AnswerFaults['faultOf']) {
    this.#server = server
    this.#target = target
    this.#faultOf = faultOf
  }

  /** @param faultOf the fault of each request, or null for none */
  static async start(target: string, faultOf: (method: string, path: string) => AnswerFault | null): Promise<AnswerFaults> {
    const server = createServer()
    const proxy = new AnswerFaults(server, new URL(target), faultOf)
    server.on('request', (incoming, outgoing) => proxy.#take(incoming, outgoing))
    server.listen(0, HOST)
    await once(server, 'listening')
    return proxy
  }

  get faultOf(): (method: string, path: string) => AnswerFault | null {
    return this.#faultOf
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
    return `http://${HOST}:${address.port}`
  }

  /** Requests that met a fault. */
  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Resolves once no request is on its way to the service. */
  async quiet(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await this.quiet()
    this.#agent.destroy()
  }

  #take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const work = this.#answer(incoming, outgoing).catch(() => void outgoing.destroy())
    this.#underWay.add(work)
    void work.then(() => this.#underWay.delete(work))
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = Buffer.concat(await incoming.toArray())
    const fault = this.#faultOf(incoming.method ?? '', incoming.url ?? '')
    if (fault !== null) this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1)
    if (fault === 'dropped_before') return void outgoing.destroy()
    if (fault === 'overtaken') {
      finish(outgoing, { status: 502, headers: { 'content-type': 'text/html' }, body: Buffer.from('<p>Bad gateway</p>') })
      await delay(OVERTAKEN_MS)
      return void (await this.#forward(incoming, body))
    }
    const both = fault === 'doubled' ? [this.#forward(incoming, body), this.#forward(incoming, body)] : [this.#forward(incoming, body)]
    const answers = await Promise.all(both)
    // Of two, the one that was carried out: the other is a refusal.
    const answer = answers.toSorted((one, other) => one.status - other.status)[0]
    if (answer !== undefined) spoil(outgoing, answer, fault)
  }

  #forward({ method, url, headers }: IncomingMessage, body: Buffer): Promise<Whole> {
    const { promise, resolve, reject } = Promise.withResolvers<Whole>()
    const { hostname, port } = this.#target
    const sent = request({ hostname, port, method, path: url, headers, agent: this.#agent }, response => {
      response
        .toArray()
        .then(chunks => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }), reject)
    })
    sent.on('error', reject)
    sent.end(body)
    return promise
  }
}

function spoil(outgoing: ServerResponse, answer: Whole, fault: AnswerFault | null): void {
  switch (fault) {
    case 'dropped_after':
      outgoing.destroy()
      break
    case 'cut':
      outgoing.writeHead(answer.status, answer.headers)
      outgoing.write(answer.body.subarray(0, answer.body.length / 2), () => outgoing.destroy())
      break
    case 'late':
      break
    case 'status_500':
    case 'status_502':
      finish(outgoing, { status: Number(fault.slice(-3)), headers: { 'content-type': 'text/plain' }, body: Buffer.from('an error page') })
      break
    case 'garbage':
      finish(outgoing, { ...answer, headers: { 'content-type': 'application/json' }, body: Buffer.from('{"ok":true}') })
      break
    case 'refused':
      finish(outgoing, { status: 409, headers: { 'content-type': 'application/json', 'x-request-id': 'of-the-proxy' }, body: REFUSAL })
      break
    default:
      finish(outgoing, answer)
  }
}

function finish(outgoing: ServerResponse, { status, headers, body }: Whole): void {
  const { 'transfer-encoding': _chunked, ...others } = headers
  outgoing.writeHead(status, { ...others, 'content-length': body.length })
  outgoing.end(body)
}
