// The control API of the sandbox that this service started: one request at a time limit, whose answer is bounded and is read as JSON.
import { ServiceError } from '@trunkline/core/domain/errors'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Clean } from 'typebox/value'

/** The sandbox is on this machine. */
const LIMIT_MS = 10_000
const ANSWER_BYTES_MAX = 4 * 1024 * 1024
const MESSAGE_MAX = 300

/** A request of the closed list in `requests.ts`. */
export interface ControlRequest<Answer extends TSchema> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
  readonly answer: Answer
  /** How long the answer may take, in milliseconds; 10 s if absent. */
  readonly limitMs?: number
}

export interface ControlOptions {
  readonly controlUrl: string
  /** False once the program has ended: another one may have its port by now. */
  readonly isRunning: () => boolean
  readonly clock: Pick<Clock, 'alarm'>
}

/** What the sandbox said to a request that it refused. */
export class SandboxRefusal extends ServiceError {
  /** The sandbox's own. */
  readonly sandboxCode: string

  constructor(sandboxCode: string, message: string) {
    super('sandbox_refused', `The sandbox refuses: ${message.slice(0, MESSAGE_MAX)}`)
    this.sandboxCode = sandboxCode
  }
}

export class SandboxControl {
  readonly #options: ControlOptions

  constructor(options: ControlOptions) {
    this.#options = options
  }

  /**
   * The answer, without what its form does not name.
   * @throws SandboxRefusal; ServiceError sandbox_absent once it has ended, sandbox_unavailable, which says whether a change may have been
   * made
   */
  async ask<Answer extends TSchema>(request: ControlRequest<Answer>): Promise<Static<Answer>> {
    const { method, answer, path } = request
    if (!this.#options.isRunning())
      throw new ServiceError('sandbox_absent', 'The sandbox has ended, so nothing was changed. It is started with the service.')
    const { status, text } = await this.#exchange(request)
    const body = parsed(text)
    if (status >= 400 && status < 500) throw refusalOf(body)
    const fits = (value: unknown): value is Static<Answer> => Compile(answer).Check(value)
    const known: unknown = Clean(answer, body)
    if (status < 300 && fits(known)) return known
    const cause = new Malformed(`${method} ${path}`, 'an answer as the control API describes it', `status ${status}`)
    throw unavailable(`The sandbox’s answer cannot be read.${consequence(method)}`, cause)
  }

  async #exchange({ method, path, body, limitMs = LIMIT_MS }: ControlRequest<TSchema>) {
    const { controlUrl, clock } = this.#options
    const end = new AbortController()
    using _limit = clock.alarm(limitMs, () => end.abort(new Error(`no answer within ${limitMs} ms`)))
    try {
      const response = await fetch(controlUrl + path, {
        ...{ method, redirect: 'error', signal: end.signal },
        ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
      })
      return { status: response.status, text: await bounded(response) }
    } catch (cause) {
      throw unavailable(`The sandbox gave no answer.${consequence(method)}`, cause)
    }
  }
}

async function bounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer has more than ${ANSWER_BYTES_MAX} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function consequence(method: string): string {
  if (method === 'GET') return ' Nothing was changed; try again.'
  return ' Whether the change was made is unknown: read the state before you repeat it.'
}

function unavailable(message: string, cause?: unknown): ServiceError {
  return new ServiceError('sandbox_unavailable', message, { retryAfterSeconds: 1, ...(cause !== undefined && { cause }) })
}

/** Undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

function refusalOf(body: unknown): SandboxRefusal {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null
  const [code, message] =
    typeof error === 'object' && error !== null && 'code' in error && 'message' in error ? [error.code, error.message] : []
  return new SandboxRefusal(
    typeof code === 'string' ? code : 'unknown',
    typeof message === 'string' ? message : 'it gave no reason that can be read.'
  )
}
