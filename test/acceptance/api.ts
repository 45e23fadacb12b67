// A client of the REST API that checks every answer against the service's own description of itself.
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { RunningService } from './harness.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers are judged by the schemas and by what each test asserts of them
export type Body = any

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The parsed body. */
  readonly body: Body
  readonly text: string
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, unless it is text already. */
  readonly body?: unknown
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly isForUser: boolean
  readonly pattern: RegExp
  readonly answers: ReadonlyMap<number, ValidateFunction>
  /** The names of the headers that an answer may have, by status. */
  readonly headers: ReadonlyMap<number, ReadonlySet<string>>
}

/** Headers that mean something of ours. */
const OURS = /^(?:ratelimit-|retry-after$|allow$|x-request-id$)/

/** A user as the platform knows it. */
export interface User {
  readonly userId: string
  readonly secret: string
}

/** The service's REST API. */
export class Api {
  readonly service: RunningService
  readonly operations: readonly Operation[]
  readonly #problem: ValidateFunction

  private constructor(service: RunningService, operations: readonly Operation[], problem: ValidateFunction) {
    this.service = service
    this.operations = operations
    this.#problem = problem
  }

  static async of(service: RunningService): Promise<Api> {
    const document: Body = await (await fetch(`${service.url}/openapi.json`)).json()
    const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { decimal: /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/ } })
    addFormats.default(ajv)
    ajv.addSchema({ ...document, $id: 'api' })
    const schema = (pointer: string) => ajv.compile({ $ref: `api#${pointer}` })
    return new Api(service, operationsOf(document, schema), schema('/components/schemas/Problem'))
  }

  get platform(): Readonly<Record<string, string>> {
    return { 'client-id': this.service.demo.client_id, 'client-secret': this.service.demo.client_secret }
  }

  as({ userId, secret }: User): Readonly<Record<string, string>> {
    return { ...this.platform, 'user-id': userId, 'user-secret': secret }
  }

  /** Sends a request and demands an answer of the form the reference promises. */
  async call(method: string, address: string, { headers = {}, body }: RequestOptions = {}): Promise<Answer> {
    const response = await fetch(this.service.url + address, {
      method,
      redirect: 'manual',
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const answer: Answer = { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    this.check(method, address, answer)
    return answer
  }

  /** Fails unless the answer is one the reference promises for this request. */
  check(method: string, address: string, answer: Answer): void {
    const { status, headers, text } = answer
    const what = `${method} ${address} → ${status} ${text.slice(0, 600)}`
    assert.ok(headers.get('x-request-id'), `no x-request-id: ${what}`)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', what)
    const path = address.replace(/\?.*$/, '').replace(/^\/v1(?=\/)/, '')
    const operation = this.operations.find(known => known.method === method && known.pattern.test(path))
    const isFit = operation?.answers.get(status) ?? (operation === undefined && status >= 400 ? this.#problem : undefined)
    assert.ok(isFit, `an answer the reference does not promise: ${what}`)
    const described = operation?.headers.get(status)
    for (const name of headers.keys())
      if (described !== undefined && OURS.test(name))
        assert.ok(described.has(name), `a header that the reference does not promise: ${name} of ${what}`)
    const fits: boolean = isFit(answer.body)
    assert.ok(fits, `not of the promised form: ${what}\n${JSON.stringify(isFit.errors, null, 1)}`)
    if (status >= 400) assert.equal(answer.body.request_id, headers.get('x-request-id'), what)
  }

  /** Creates a user. */
  async user(userId: string): Promise<User> {
    const { status, body } = await this.call('POST', '/users', { headers: this.platform, body: { user_id: userId } })
    assert.equal(status, 200)
    return { userId, secret: body['user-secret'] }
  }
}

function operationsOf(document: Body, schema: (pointer: string) => ValidateFunction): readonly Operation[] {
  return Object.entries<Body>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Body>(methods).map(([method, { operationId, security, responses }]) => ({
      method: method.toUpperCase(),
      path,
      operationId,
      isForUser: 'userSecret' in security[0],
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]*')}$`),
      headers: new Map(
        Object.entries<Body>(responses).map(([status, response]) => {
          const { headers = {} } = response.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)]
          return [Number(status), new Set(Object.keys(headers))]
        })
      ),
      answers: new Map(
        Object.entries<Body>(responses).map(([status, response]) => {
          const at = response.$ref?.slice(1) ?? `/paths/${pointerStep(path)}/${method}/responses/${status}`
          return [Number(status), schema(`${at}/content/application~1json/schema`)]
        })
      )
    }))
  )
}

function pointerStep(path: string): string {
  return encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
}
