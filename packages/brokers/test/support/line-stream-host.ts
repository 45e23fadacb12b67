/** A host of streams of lines on a free port: it writes what the test sets, byte by byte where it matters. */

import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ScriptedHost } from './scripted-host.ts'

export class LineStreamHost implements AsyncDisposable {
  readonly streams: ServerResponse[] = []
  readonly requests: IncomingMessage[] = []
  readonly #host: ScriptedHost
  /** Written as soon as a stream is open. */
  greeting = ''
  /** How a request is answered; a stream unless the test says otherwise. */
  answer: ((response: ServerResponse) => void) | null = null
  mediaType = 'application/vnd.tradestation.streams.v3+json'

  private constructor(host: ScriptedHost) {
    this.#host = host
  }

  static async start(): Promise<LineStreamHost> {
    const host = await ScriptedHost.start(() => undefined)
    const lines = new LineStreamHost(host)
    host.script((_seen, response, request) => lines.#take(request, response))
    return lines
  }

  get url(): string {
    return `${this.#host.origin}/stream?of=lines`
  }

  get last(): ServerResponse {
    const stream = this.streams.at(-1)
    assert.ok(stream !== undefined)
    return stream
  }

  /** Sockets that are open now. */
  get open(): number {
    return this.streams.filter(({ socket }) => socket !== null && !socket.destroyed).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host[Symbol.asyncDispose]()
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(request)
    if (this.answer !== null) {
      this.answer(response)
      return
    }
    this.streams.push(response)
    response.writeHead(200, { 'content-type': this.mediaType })
    response.flushHeaders()
    if (this.greeting !== '') response.write(this.greeting)
  }
}
