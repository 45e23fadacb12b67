// A raw TCP proxy between service and house that can stop in the middle of a request, or before its answer gets through.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Where the next matching request is cut. */
export interface Cut {
  /** Beginning of the request line, such as `POST /api/v1/orders HTTP`. */
  readonly request: string
  /** Share of the request's bytes that get through; 1 lets all of them pass. */
  readonly share: number
  /** With `share` 1: bytes of the answer that get through; null cuts at once, without waiting for one. */
  readonly answerBytes: number | null
  /** Called once, when no byte passes any more. */
  readonly whenCut: () => void
}

const HOST = '127.0.0.1'

export class CutProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #target = 0
  #armed: Cut | null = null

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<CutProxy> {
    const server = createServer({ allowHalfOpen: true })
    const proxy = new CutProxy(server)
    server.on('connection', socket => proxy.#carry(socket))
    server.listen(0, HOST)
    await once(server, 'listening')
    return proxy
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy does not listen')
    return `http://${HOST}:${address.port}`
  }

  /** To be called before anybody connects. */
  leadTo(port: number): void {
    this.#target = port
  }

  /** The next request that fits is cut, once. */
  arm(cut: Cut): void {
    this.#armed = cut
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #carry(client: Socket): void {
    const upstream = createConnectionTo(this.#target)
    for (const socket of [client, upstream]) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => this.#sockets.delete(socket))
    }
    const passage = new Passage(client, upstream)
    client.on('data', (chunk: Buffer) => passage.ask(chunk, head => this.#take(head)))
    upstream.on('data', (chunk: Buffer) => passage.answer(chunk))
    client.once('end', () => upstream.end())
    upstream.once('end', () => client.end())
    client.once('close', () => upstream.destroySoon())
    upstream.once('close', () => client.destroySoon())
  }

  #take(head: string): Cut | null {
    if (this.#armed === null || !head.startsWith(this.#armed.request)) return null
    const cut = this.#armed
    this.#armed = null
    return cut
  }
}

function createConnectionTo(port: number): Socket {
  return connect({ host: HOST, port, noDelay: true, allowHalfOpen: true })
}

/** One connection. The service sends a request at a time, so a request's head is at the start of a chunk. */
class Passage {
  readonly #client: Socket
  readonly #upstream: Socket
  #cut: Cut | null = null
  #requestLeft = 0
  #answerLeft = 0
  #done = false

  constructor(client: Socket, upstream: Socket) {
    this.#client = client
    this.#upstream = upstream
  }

  ask(chunk: Buffer, take: (head: string) => Cut | null): void {
    if (this.#done) return
    if (this.#cut === null) {
      const head = chunk.toString('latin1')
      this.#cut = take(head)
      if (this.#cut !== null) {
        this.#requestLeft = Math.floor(lengthOf(head) * this.#cut.share)
        this.#answerLeft = this.#cut.answerBytes ?? 0
      }
    }
    if (this.#cut === null) {
      this.#upstream.write(chunk)
      return
    }
    const passing = chunk.subarray(0, this.#requestLeft)
    this.#requestLeft -= passing.length
    const isAll = this.#requestLeft === 0 && (this.#cut.share < 1 || this.#cut.answerBytes === null)
    // What passed must have left this process before the end is told.
    this.#upstream.write(passing, () => isAll && this.#end())
  }

  answer(chunk: Buffer): void {
    if (this.#done) return
    if (this.#cut === null || this.#cut.answerBytes === null) {
      this.#client.write(chunk)
      return
    }
    const passing = chunk.subarray(0, this.#answerLeft)
    this.#answerLeft -= passing.length
    if (this.#answerLeft > 0 && passing.length > 0) this.#client.write(passing)
    else if (passing.length > 0) this.#client.write(passing, () => this.#end())
    else this.#end()
  }

  #end(): void {
    if (this.#done) return
    this.#done = true
    this.#cut?.whenCut()
  }
}

/** Bytes of the whole request whose head is given. */
function lengthOf(head: string): number {
  const end = head.indexOf('\r\n\r\n')
  const body = /\r\ncontent-length: (\d+)/i.exec(head.slice(0, end))?.[1] ?? '0'
  return end + 4 + Number(body)
}
