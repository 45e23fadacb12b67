// An endpoint of a platform: it verifies each message as Standard Webhooks 1.0 says, and keeps it.
import assert from 'node:assert/strict'
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Body } from './api.ts'

export interface Received {
  readonly id: string
  readonly type: string
  readonly events: readonly Body[]
  readonly raw: string
}

/** DER of an Ed25519 public key, before its 32 bytes. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = []
  /** Why it refused a message, each time that one was not as it should be. */
  readonly refusals: string[] = []
  /** What it answers; a redirect names an address. */
  status = 204
  location: string | null = null
  /** The header of its answers; null: none. */
  retryAfter: string | null = null
  secrets: readonly string[] = []
  publicKeys: readonly string[] = []
  #server: Server
  #port = 0

  private constructor() {
    this.#server = this.#made()
  }

  static async open(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await receiver.comeBack()
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/in?token=of-the-platform`
  }

  /** Everything it was sent, in the order in which it came. */
  get events(): readonly Body[] {
    return this.received.flatMap(({ events }) => events)
  }

  /** It refuses connections from now on. */
  async leave(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** It listens at the same port again. */
  async comeBack(): Promise<void> {
    this.#server = this.#made().listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    assert.ok(typeof address === 'object' && address !== null)
    this.#port = address.port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.leave()
  }

  #made(): Server {
    return createServer(async (request, response) => {
      const raw = await text(request).catch(() => null)
      if (raw === null) return // the connection was closed in the middle
      if (this.status < 300 && !this.#takes(request, raw)) return void response.writeHead(400).end()
      if (this.location !== null) response.setHeader('location', this.location)
      if (this.retryAfter !== null) response.setHeader('retry-after', this.retryAfter)
      response.writeHead(this.status).end()
    })
  }

  #takes(request: IncomingMessage, raw: string): boolean {
    try {
      this.received.push(this.#verified(request, raw))
      return true
    } catch (error) {
      this.refusals.push(String(error))
      return false
    }
  }

  #verified({ headers, method }: IncomingMessage, raw: string): Received {
    const [id = '', timestamp = '', signatures = ''] = ['id', 'timestamp', 'signature'].map(name => String(headers[`webhook-${name}`]))
    assert.equal(method, 'POST')
    assert.equal(headers['content-type'], 'application/json')
    assert.ok(Math.abs(Date.now() / 1_000 - Number(timestamp)) < 60, timestamp)
    const content = `${id}.${timestamp}.${raw}`
    const given = signatures.split(' ')
    for (const secret of this.secrets) {
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
      assert.ok(given.includes(`v1,${createHmac('sha256', key).update(content).digest('base64')}`), 'signed with the secret')
    }
    for (const publicKey of this.publicKeys) {
      const key = createPublicKey({
        key: Buffer.concat([SPKI, Buffer.from(publicKey.replace('whpk_', ''), 'base64')]),
        format: 'der',
        type: 'spki'
      })
      const isSigned = (each: string) =>
        each.startsWith('v1a,') && verify(null, Buffer.from(content), key, Buffer.from(each.slice(4), 'base64'))
      assert.ok(given.some(isSigned), 'signed with the public key')
    }
    const { type, data } = JSON.parse(raw)
    return { id, type, events: data, raw }
  }
}
