/** The sandbox as a separate process, and its control API. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const HEARTBEAT_MS = 200

const MAIN = fileURLToPath(import.meta.resolve('@trunkline/sandbox/main'))

/** An answer of the control API or of the sandbox, as loosely typed as tests need it. */
// biome-ignore lint/suspicious/noExplicitAny: the tests assert what they use of it
export type Json = any

export class SandboxProcess implements AsyncDisposable {
  readonly url: string
  readonly controlUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, ready: Json) {
    this.#child = child
    this.url = ready.url
    this.controlUrl = ready.control_url
    this.clientId = ready.client_id
    this.clientSecret = ready.client_secret
  }

  static async start(env: Readonly<Record<string, string>> = {}): Promise<SandboxProcess> {
    const child = spawn(process.execPath, [MAIN], {
      env: { ...process.env, SANDBOX_PORT: '0', SANDBOX_HEARTBEAT_MS: String(HEARTBEAT_MS), SANDBOX_END_WITH_STDIN: '1', ...env },
      stdio: ['pipe', 'pipe', 'inherit']
    })
    const died = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the sandbox ended with ${code} before it was ready`)))
    died.catch(() => undefined)
    const line = once(createInterface({ input: child.stdout }), 'line')
    const [text] = await Promise.race([line, died])
    return new SandboxProcess(child, JSON.parse(String(text)))
  }

  /** Calls the control API. @throws AssertionError unless it succeeds. */
  async control(method: string, path: string, body?: object): Promise<Json> {
    const answer = await fetch(`${this.controlUrl}${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }

  /** Reads from the sandbox as a login. */
  async get(path: string, token: string): Promise<string> {
    const answer = await fetch(`${this.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } })
    const text = await answer.text()
    assert.ok(answer.ok, `GET ${path}: ${answer.status} ${text}`)
    return text
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await ended
  }
}
