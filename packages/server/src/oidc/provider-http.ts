// HTTP to the login provider: bounded in size and time, encrypted, without redirects.
import { isUtf8 } from 'node:buffer'
import type { CustomFetch } from 'openid-client'
import { Agent, request } from 'undici'
import { isSafe } from '../config/oidc-settings.ts'
import { ProviderUnavailable } from './faults.ts'

/** Bytes of an answer. Discovery documents, key sets and tokens have a few thousand. */
export const ANSWER_BYTES_MAX = 256 * 1024
const CONNECTIONS = 8
/** Statuses without a body. */
const EMPTY = new Set([204, 205, 304])
/** What the library reads of an answer. */
const HEADERS = ['content-type', 'www-authenticate']

/**
 * Sends the library's requests. Its administrator chose the provider, so that its address may be private; another one than loopback must be
 * encrypted, also where the provider's own discovery document names it.
 */
export class ProviderHttp implements AsyncDisposable {
  // An agent of its own: the usual one may have a proxy of the environment, and follows what others set for it.
  readonly #agent: Agent

  /** @param requestMs of connecting, of waiting for an answer, and between two pieces of it; the library bounds the whole. */
  constructor(requestMs: number) {
    this.#agent = new Agent({
      connections: CONNECTIONS,
      allowH2: false,
      maxResponseSize: ANSWER_BYTES_MAX,
      headersTimeout: requestMs,
      bodyTimeout: requestMs,
      // Explicit, because an environment variable could otherwise turn verification off for the whole process.
      connect: { timeout: requestMs, rejectUnauthorized: true }
    })
  }

  /** Bound, so that it can be passed to the library. @throws ProviderUnavailable */
  readonly fetch: CustomFetch = async (url, { method, headers, body, signal }) => {
    const target = new URL(url)
    if (!isSafe(target)) throw new ProviderUnavailable(`names ${target.origin}, which is not https`)
    try {
      const answer = await request(target, {
        dispatcher: this.#agent,
        method: method === 'POST' ? 'POST' : 'GET',
        headers: { ...headers, 'accept-encoding': 'identity' },
        ...(body !== undefined && body !== null && { body: String(body) }),
        ...(signal !== undefined && { signal })
      })
      const bytes = await answer.body.bytes()
      if (answer.headers['content-encoding'] !== undefined || !isUtf8(bytes)) throw new ProviderUnavailable('sent an encoded answer')
      if (answer.statusCode >= 500) throw new ProviderUnavailable(`answered with the status ${answer.statusCode}`)
      const kept = HEADERS.flatMap(name => {
        const value = answer.headers[name]
        return typeof value === 'string' ? [[name, value] as const] : []
      })
      const isEmpty = EMPTY.has(answer.statusCode)
      return new Response(isEmpty ? null : Buffer.from(bytes).toString(), { status: answer.statusCode, headers: Object.fromEntries(kept) })
    } catch (cause) {
      throw cause instanceof ProviderUnavailable ? cause : new ProviderUnavailable(whyNot(cause))
    }
  }

  /** Ends the requests under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy()
  }
}

function whyNot(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return `sent more than ${ANSWER_BYTES_MAX} bytes`
  if (/TIMEOUT$/.test(code) || (cause instanceof Error && /^(Timeout|Abort)Error$/.test(cause.name))) return 'did not answer in time'
  return `did not answer (${code === '' ? 'no connection' : code})`
}
