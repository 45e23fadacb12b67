// A platform's REST client: an answer that does not come is no answer, and never taken for a refusal.
import type { Json } from '@trunkline/testkit/crash/sandbox-process'

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

/** @throws Error unless the answer is this one */
export async function must(status: number, url: string, method: string, path: string, headers: Headers, body?: object): Promise<Json> {
  const answer = await call(url, method, path, headers, body)
  if (answer?.status === status) return answer.body
  throw new Error(`${method} ${path}: ${answer === null ? 'no answer' : `${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`}`)
}
