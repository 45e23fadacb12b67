// One attempt over HTTP: the name is resolved once, its addresses are judged, and the connection goes to one of these.
import type { LookupAddress } from 'node:dns'
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Clock } from '@trunkline/core/ports/clock'
import type { WebhookDelivery, WebhookFailure } from '@trunkline/core/ports/webhook-store'
import { AnswerBody } from './answer-body.ts'
import { PLACES } from './endpoint-queue.ts'
import type { PublicAddresses } from './public-addresses.ts'
import { isForPublic, parseWebhookUrl, type WebhookUrl } from './webhook-url.ts'

export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** How an attempt ended. It succeeded if `failure` is null. */
export interface WebhookOutcome {
  readonly answer: WebhookDelivery['answer']
  readonly failure: WebhookFailure | null
  /** The header of the answer; null without one. */
  readonly retryAfter: string | null
}

/** Makes an attempt. It never rejects. */
export type Exchange = (request: WebhookRequest) => Promise<WebhookOutcome>

export interface ExchangeDeps {
  readonly clock: Pick<Clock, 'alarm'>
  readonly addresses: PublicAddresses
  /** All addresses of a name. */
  readonly resolve: (name: string) => Promise<readonly Pick<LookupAddress, 'address'>[]>
  /** Certificates of authorities that are trusted instead of the usual ones. */
  readonly ca?: string
}

/** From the resolution of the name to the end of the answer. */
export const ATTEMPT_MS = 5_000
const HEADER_BYTES_MAX = 16 * 1024
/** Interim answers (100, 103) before the answer: nothing else of the exchange bounds how many there are. */
const INTERIM_MAX = 8
/** Idle connections of all endpoints together; beyond it an attempt's connection is closed after its answer. */
const CONNECTIONS_KEPT_MAX = 512
/** As many for an address as an endpoint has places: of attempts that end together, each leaves its connection to a later one. */
const IDLE = { keepAlive: true, maxFreeSockets: PLACES, timeout: 4_000 }

/** Why no request was sent, or no answer read. */
class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed'
  readonly failure: WebhookFailure

  constructor(failure: WebhookFailure, options?: ErrorOptions) {
    super(failure, options)
    this.failure = failure
  }
}

/** The endpoint closed an idle connection before it answered: it may have closed it before the request. */
class ConnectionStale extends AttemptFailed {}

/** Where an attempt goes to. */
interface Target {
  readonly url: WebhookUrl
  /** The judged address. */
  readonly address: string
  /** Whether a connection of an earlier attempt may be used. */
  readonly isReusing: boolean
}

/** Sends over HTTP/1.1. Connections are reused only for an address that was judged in the same attempt. */
export class HttpExchange implements Disposable {
  readonly #deps: ExchangeDeps
  // Agents of its own: the usual ones may have a proxy of the environment.
  readonly #agents = { http: new HttpAgent(IDLE), https: new HttpsAgent(IDLE) }
  readonly #sockets = new Set<Socket>()

  constructor(deps: ExchangeDeps) {
    this.#deps = deps
  }

  /** Bound, so that it can be passed as an {@link Exchange}. */
  readonly send: Exchange = async request => {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const abort = new AbortController()
    const alarm = this.#deps.clock.alarm(ATTEMPT_MS, () => {
      abort.abort()
      resolve()
    })
    const body = new AnswerBody()
    const failed = (failure: WebhookFailure): WebhookOutcome => ({ ...body.read, failure })
    try {
      return await Promise.race([this.#attempt(request, body, abort.signal), late.then(() => failed('timeout'))])
    } catch (cause) {
      if (abort.signal.aborted) return failed('timeout')
      return failed(cause instanceof AttemptFailed ? cause.failure : 'broken_off')
    } finally {
      alarm[Symbol.dispose]()
    }
  };

  [Symbol.dispose](): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  async #attempt(request: WebhookRequest, body: AnswerBody, signal: AbortSignal): Promise<WebhookOutcome> {
    const url = this.#parsed(request.url)
    const address = await this.#addressOf(url)
    if (signal.aborted) throw new AttemptFailed('timeout')
    const exchanged = (isReusing: boolean) => this.#exchanged({ url, address, isReusing }, request, body, signal)
    const answer = await exchanged(true).catch((cause: unknown) => {
      if (cause instanceof ConnectionStale) return exchanged(false)
      throw cause
    })
    const { statusCode = 0 } = answer
    const failure = statusCode >= 200 && statusCode < 300 ? null : statusCode >= 300 && statusCode < 400 ? 'redirect' : 'status'
    return { ...body.read, failure }
  }

  #parsed(text: string): WebhookUrl {
    try {
      return parseWebhookUrl(text, this.#deps.addresses)
    } catch (cause) {
      // The operator has narrowed the networks since the endpoint was created.
      if (cause instanceof Malformed) throw new AttemptFailed('address_refused', { cause })
      throw cause
    }
  }

  /** An address of the endpoint. All of them must be allowed: which one a client takes is not for the name's owner to choose. */
  async #addressOf(url: WebhookUrl): Promise<string> {
    const found = url.isAddress ? [{ address: url.host }] : await this.#resolved(url.host)
    const [first] = found
    if (first === undefined) throw new AttemptFailed('dns')
    for (const { address } of found) {
      const judgement = this.#deps.addresses.judge(address)
      if (judgement === 'refused' || (judgement === 'public' && !isForPublic(url))) throw new AttemptFailed('address_refused')
    }
    return first.address
  }

  async #resolved(name: string): Promise<readonly Pick<LookupAddress, 'address'>[]> {
    try {
      return await this.#deps.resolve(name)
    } catch (cause) {
      throw new AttemptFailed('dns', { cause })
    }
  }

  #request({ url, address, isReusing }: Target, request: WebhookRequest, signal: AbortSignal): ClientRequest {
    const { host, pathname, search } = new URL(url.href)
    const options = {
      method: 'POST',
      // The judged address itself: nothing is resolved a second time.
      ...{ host: address, port: url.port, path: `${pathname}${search}`, signal, maxHeaderSize: HEADER_BYTES_MAX },
      headers: { ...request.headers, host, 'content-length': String(request.body.byteLength) }
    }
    const isKept = isReusing && this.#sockets.size < CONNECTIONS_KEPT_MAX
    if (!url.isHttps) return httpRequest({ ...options, agent: isKept ? this.#agents.http : false })
    return httpsRequest({
      ...options,
      agent: isKept ? this.#agents.https : false,
      // The certificate must be the name's. An address has no server name: its certificate must name the address.
      servername: url.isAddress ? '' : url.host,
      ...(this.#deps.ca !== undefined && { ca: this.#deps.ca })
    })
  }

  #exchanged(target: Target, request: WebhookRequest, body: AnswerBody, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      let isConnected = false
      let interim = 0
      const sent = this.#request(target, request, signal)
      sent.on('socket', socket => {
        this.#count(socket)
        if (sent.reusedSocket) isConnected = true
        else socket.once(target.url.isHttps ? 'secureConnect' : 'connect', () => (isConnected = true))
      })
      sent.on('error', cause => {
        const isStale = sent.reusedSocket && body.read.answer === null && !signal.aborted
        reject(new (isStale ? ConnectionStale : AttemptFailed)(failureOf(cause, isConnected), { cause }))
      })
      sent.on('information', () => {
        interim += 1
        if (interim !== INTERIM_MAX + 1) return
        reject(new AttemptFailed('answer_too_large'))
        sent.destroy()
      })
      // Another protocol is no answer, whatever follows.
      sent.on('upgrade', (answer, socket) => {
        body.take(answer)
        socket.destroy()
        resolve(answer)
      })
      sent.on('response', answer => {
        body.take(answer)
        answer.on('data', (chunk: Buffer) => {
          if (body.add(chunk)) return
          reject(new AttemptFailed('answer_too_large'))
          sent.destroy()
        })
        answer.on('end', () => resolve(answer))
        answer.on('error', cause => reject(new AttemptFailed('broken_off', { cause })))
      })
      sent.end(request.body)
    })
  }

  #count(socket: Socket): void {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }
}

function failureOf(cause: Error, isConnected: boolean): WebhookFailure {
  const code = 'code' in cause ? String(cause.code) : ''
  if (code === 'HPE_HEADER_OVERFLOW') return 'answer_too_large'
  if (isConnected) return 'broken_off'
  const isTransport = /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM|ETIMEDOUT|EMFILE)$/.test(code)
  return isTransport && !cause.message.includes('TLS') ? 'connect' : 'tls'
}
