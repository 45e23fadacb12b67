// A server behind a proxy, and what came through.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { FaultProxy } from '../../src/fault-proxy/index.ts'

/** One party's end of a connection, with everything it received. */
export class Party {
  readonly socket: Socket
  readonly #received: Buffer[] = []
  error: Error | null = null

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#received.push(chunk))
    socket.on('error', cause => {
      this.error = cause
    })
  }

  get received(): Buffer {
    return Buffer.concat(this.#received)
  }

  /** Reads that were needed for it. */
  get chunks(): number {
    return this.#received.length
  }
}

export interface Stage extends AsyncDisposable {
  readonly proxy: FaultProxy
  /** A client and the server's end of its connection. */
  pair(): Promise<{ readonly client: Party; readonly server: Party }>
}

export async function openStage(fraction?: () => number): Promise<Stage> {
  const parts = new AsyncDisposableStack()
  const arrivals: ((socket: Socket) => void)[] = []
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => {
    sockets.add(socket)
    arrivals.shift()?.(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  parts.defer(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const proxy = parts.use(await FaultProxy.start(fraction))
  proxy.leadTo((server.address() as AddressInfo).port)
  const pair = async () => {
    const arrived = new Promise<Socket>(resolve => arrivals.push(resolve))
    const socket = connect({ port: proxy.port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    sockets.add(socket)
    const client = new Party(socket)
    return { client, server: new Party(await arrived) }
  }
  return { proxy, pair, [Symbol.asyncDispose]: () => parts.disposeAsync() }
}
