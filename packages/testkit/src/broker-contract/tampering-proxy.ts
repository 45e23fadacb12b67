/** A server between an adapter and its broker that changes the answers. */

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

const HUGE_BYTES = 50 * 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, ' ')

/** The changed answer; `answer` is the broker's, as JSON. */
export type Distortion =
  | { readonly kind: 'none' | 'huge' | 'bomb' | 'html' }
  | { readonly kind: 'json'; readonly of: (answer: unknown) => unknown }

export class TamperingProxy implements AsyncDisposable {
  distortion: Distortion = { kind: 'none' }
  /** Answers of many megabytes that were read to their end. */
  swallowed = 0
  /** Requests that were passed on. */
  passed = 0
  readonly #broker: URL
  readonly #server = createServer((seen, response) => {
    this.#pass(seen, response).catch(() => response.destroy())
  })
  #bomb: Buffer | null = null

  private constructor(broker: string) {
    this.#broker = new URL(broker)
  }

  static async to(broker: string): Promise<TamperingProxy> {
    const made = new TamperingProxy(broker)
    await new Promise<void>(resolve => made.#server.listen(0, '127.0.0.1', resolve))
    return made
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the tampering proxy does not listen')
    return `http://127.0.0.1:${address.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }

  async #pass(seen: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#request(seen)
    const body = await text(answer)
    this.passed += 1
    const { distortion } = this
    switch (distortion.kind) {
      case 'none':
        response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] ?? 'application/json' })
        return void response.end(body)
      case 'json':
        response.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' })
        return void response.end(JSON.stringify(distortion.of(JSON.parse(body === '' ? 'null' : body))))
      case 'html':
        response.writeHead(200, { 'content-type': 'text/html' })
        return void response.end('<!doctype html><title>Maintenance</title><p>Back soon.')
      case 'bomb':
        this.#bomb ??= gzipSync(Buffer.alloc(HUGE_BYTES, ' '))
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        return void response.end(this.#bomb)
      case 'huge':
        return await this.#flood(response)
    }
  }

  /** As fast and as long as it is read. */
  async #flood(response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'application/json' })
    for (let sent = 0; sent < HUGE_BYTES; sent += CHUNK.length) {
      if (response.destroyed) return
      if (response.write(CHUNK)) continue
      while (response.writableNeedDrain && !response.destroyed) await delay(1)
    }
    this.swallowed += 1
    response.end('[]')
  }

  #request(seen: IncomingMessage): Promise<IncomingMessage> {
    const { hostname, port } = this.#broker
    const { method = 'GET', url: path = '/', headers } = seen
    return new Promise((resolve, reject) => {
      const onward = request({ hostname, port, method, path, headers: { ...headers, connection: 'close' } }, resolve)
      onward.on('error', reject)
      seen.pipe(onward)
    })
  }
}
