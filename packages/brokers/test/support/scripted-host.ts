/** A host on a free port whose every answer the test writes, byte by byte where it matters. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export type Script = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void | Promise<void>

export class ScriptedHost implements AsyncDisposable {
  readonly seen: Seen[] = []
  readonly server: Server
  #script: Script

  private constructor(script: Script) {
    this.#script = script
    this.server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(script: Script): Promise<ScriptedHost> {
    const host = new ScriptedHost(script)
    host.server.listen(0, '127.0.0.1')
    await once(host.server, 'listening')
    return host
  }

  get port(): number {
    const address: AddressInfo | string | null = this.server.address()
    if (address === null || typeof address === 'string') throw new Error('the scripted host does not listen')
    return address.port
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  script(script: Script): void {
    this.#script = script
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return
    }
    const seen = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() }
    this.seen.push(seen)
    await this.#script(seen, response, request)
  }
}

export function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
}
