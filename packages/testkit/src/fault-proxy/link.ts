import { connect, type Socket } from 'node:net'
import type { Direction, LinkConditions, LinkKind } from './conditions.ts'
import { Flow } from './flow.ts'
import { CutUnderWay, type Passing, type RequestCut } from './request-cut.ts'
import { sever } from './sever.ts'
import { StreamAnswers } from './stream-answers.ts'
import type { Tampering } from './tampering.ts'

export interface LinkSurroundings {
  readonly host: string
  readonly port: number
  readonly conditions: (kind: LinkKind) => LinkConditions
  /** The cut this request is due, taken once. */
  readonly takeCut: (head: string) => RequestCut | null
  /** Called when a connection turns out to be a stream. */
  readonly tampering: () => Tampering | null
  readonly fraction: () => number
  /** Called with what the client sends, as it comes, whatever becomes of it. */
  readonly onSent: (link: Link, chunk: Buffer) => void
}

/** One connection through the proxy: two sockets, a flow each way, and what is wrong with them. */
export class Link {
  readonly #client: Socket
  readonly #server: Socket
  readonly #around: LinkSurroundings
  readonly #flows: Readonly<Record<Direction, Flow>>
  readonly #answers = new StreamAnswers()
  #kind: LinkKind | null = null
  #requestCut: CutUnderWay | null = null
  #isMute = false
  /** The end of one side, which the other cannot see while the link is dead. */
  readonly #pending: { readonly direction: Direction; readonly notify: () => void }[] = []

  constructor(client: Socket, around: LinkSurroundings) {
    this.#client = client
    this.#around = around
    this.#server = connect({ host: around.host, port: around.port, noDelay: true, allowHalfOpen: true })
    const conditions = (direction: Direction) => () => around.conditions(this.kind)[direction]
    this.#flows = {
      toServer: new Flow(client, this.#server, conditions('toServer'), around.fraction),
      toClient: new Flow(this.#server, client, conditions('toClient'), around.fraction)
    }
    this.#carry()
  }

  get kind(): LinkKind {
    return this.#kind ?? 'request'
  }

  /** The port from which it is connected to the server; null while it is not. */
  get serverPeer(): number | null {
    return this.#server.localPort ?? null
  }

  /** Resolves once both sockets are gone. */
  async gone(): Promise<void> {
    await Promise.all([goneFrom(this.#client), goneFrom(this.#server)])
  }

  /** RST both ways, at once. */
  reset(): void {
    for (const flow of Object.values(this.#flows)) flow.stop()
    for (const socket of [this.#client, this.#server]) sever(socket)
  }

  /** RST both ways after so many more bytes of one direction. */
  resetAfter(direction: Direction, bytes: number): void {
    this.#flows[direction].stopAfter(bytes, () => this.reset())
  }

  /** What the previous one held back comes out first. */
  tamper(tampering: Tampering | null): void {
    const held = this.#answers.tamper(tampering)
    if (held.length > 0) this.#flows.toClient.push(held)
  }

  /** To be called when the conditions have changed. */
  changed(): void {
    for (const flow of Object.values(this.#flows)) flow.changed()
    for (const { direction, notify } of this.#pending.splice(0)) this.#whenReachable(direction, notify)
  }

  #carry(): void {
    const { toServer, toClient } = this.#flows
    for (const socket of [this.#client, this.#server]) socket.on('error', () => undefined)
    this.#client.on('data', (chunk: Buffer) => this.#fromClient(chunk))
    this.#server.on('data', (chunk: Buffer) => this.#fromServer(chunk))
    this.#client.once('end', () => toServer.end())
    this.#server.once('end', () => toClient.end())
    this.#client.once('close', hadError => this.#whenReachable('toServer', () => this.#lost(this.#server, hadError)))
    this.#server.once('close', hadError => this.#whenReachable('toClient', () => this.#lost(this.#client, hadError)))
  }

  #whenReachable(direction: Direction, notify: () => void): void {
    if (this.#around.conditions(this.kind)[direction].held) this.#pending.push({ direction, notify })
    else notify()
  }

  /** One side is gone: so is the other, and as abruptly. */
  #lost(other: Socket, hadError: boolean): void {
    for (const flow of Object.values(this.#flows)) flow.stop()
    if (hadError) sever(other)
    else other.destroySoon()
  }

  #fromClient(chunk: Buffer): void {
    this.#around.onSent(this, chunk)
    if (this.#isMute) return
    if (this.#kind === null) this.#recognise(chunk)
    if (this.#kind === 'request' && this.#requestCut === null) {
      const head = chunk.toString('latin1')
      const cut = this.#around.takeCut(head)
      if (cut !== null) this.#requestCut = new CutUnderWay(cut, head)
    }
    this.#pass('toServer', this.#requestCut?.fromClient(chunk) ?? { bytes: chunk, isAll: false }, () => this.#requestCut?.done())
  }

  #fromServer(chunk: Buffer): void {
    if (this.#isMute) return
    if (this.#kind === 'stream') this.#pass('toClient', this.#answers.take(chunk), () => this.reset())
    else this.#pass('toClient', this.#requestCut?.fromServer(chunk) ?? { bytes: chunk, isAll: false }, () => this.#requestCut?.done())
  }

  /** What passed must have left this process before the end comes. */
  #pass(direction: Direction, { bytes, isAll }: Passing, whenAll: () => void): void {
    if (isAll) this.#isMute = true
    if (bytes.length > 0) this.#flows[direction].push(bytes, isAll ? whenAll : null)
    else if (isAll) whenAll()
  }

  #recognise(chunk: Buffer): void {
    this.#kind = /\r\nupgrade: *websocket\r\n/i.test(chunk.toString('latin1')) ? 'stream' : 'request'
    if (this.#kind === 'stream') this.#answers.tamper(this.#around.tampering())
  }
}

async function goneFrom(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise<void>(resolve => socket.once('close', () => resolve()))
}
