import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { MarketStreams } from './streams.ts'

const HOST = '127.0.0.1'
const STREAM = 'GET /market/v1 '
const BARS = 'GET /api/v1/bars?'

/**
 * The sandbox as the service sees it: answers the market stream here, and passes everything else unchanged to a real sandbox, byte by
 * byte. Records when the sandbox began to answer for bars.
 */
export class Front {
  readonly #server: Server
  #sandboxPort = 0
  #barsBeganAt: number | null = null

  private constructor(server: Server) {
    this.#server = server
  }

  static async open(streams: MarketStreams): Promise<Front> {
    const upgrades = createHttpServer((_, response) => void response.writeHead(404).end())
    upgrades.on('upgrade', (request, socket, head) => streams.accept(request, socket, head))
    const server = createServer({ noDelay: true })
    const front = new Front(server)
    server.on('connection', socket => {
      socket.on('error', () => undefined)
      socket.once('data', (chunk: Buffer) => {
        socket.pause()
        socket.unshift(chunk)
        if (chunk.toString('latin1', 0, STREAM.length) === STREAM) upgrades.emit('connection', socket)
        else front.#pass(socket)
        socket.resume()
      })
    })
    server.listen(0, HOST)
    await once(server, 'listening')
    return front
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the front does not listen')
    return `http://${HOST}:${address.port}`
  }

  /** The address of the real sandbox. Set it before anything connects. */
  leadTo(port: number): void {
    this.#sandboxPort = port
  }

  /** The time of the first byte of an answer for bars since the last call, by `performance.now()`; null: there was none. */
  takeBarsBeganAt(): number | null {
    const at = this.#barsBeganAt
    this.#barsBeganAt = null
    return at
  }

  #pass(client: Socket): void {
    const upstream = connect({ host: HOST, port: this.#sandboxPort, noDelay: true })
    let isForBars = false
    client.on('data', (chunk: Buffer) => {
      isForBars ||= chunk.toString('latin1', 0, BARS.length) === BARS
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (isForBars) this.#barsBeganAt ??= performance.now()
      isForBars = false
      client.write(chunk)
    })
    upstream.on('error', () => undefined)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      one.once('end', () => other.end())
      one.once('close', () => other.destroy())
    }
  }
}
