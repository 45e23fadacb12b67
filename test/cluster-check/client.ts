// A platform's REST client: an answer that does not come is no answer, and never taken for a refusal.
import { setTimeout as delay } from 'node:timers/promises'
import type { Json } from '@trunkline/testkit/crash/sandbox-process'
import { PATIENCE_MS } from '@trunkline/testkit/patience'

const REPEAT_MS = 100

export type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly body: Json
}

export interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

export function platformHeaders({ client_id: id, client_secret: secret }: Credentials): Headers {
  return { 'client-id': id, 'client-secret': secret }
}

/** Null: no answer came. */
export async function call(
  url: string,
  method: string,
  path: string,
  headers: Headers,
  body?: object,
  ms = 30_000
): Promise<Answer | null> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ms)
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  } catch {
    return null
  }
}

/** Repeats while the service says that it did nothing, as a user moves. @throws Error unless the answer is this one */
export async function must(status: number, url: string, method: string, path: string, headers: Headers, body?: object): Promise<Json> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await call(url, method, path, headers, body)
    if (answer?.status === status) return answer.body
    if (answer?.status === 503 && performance.now() < deadline) {
      await delay(REPEAT_MS)
      continue
    }
    throw new Error(`${method} ${path}: ${answer === null ? 'no answer' : `${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`}`)
  }
}
