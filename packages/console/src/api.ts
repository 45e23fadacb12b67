// The operators' API as the console uses it: requests, refusals and the shapes of answers.
import { type ApiRequest, targetOf } from './snippets.ts'

export const API = '/admin/v1'
const TIMEOUT_MS = 40_000

/** A request that was refused, or that was not answered (`status` 0). */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  /** Stable, for programs: of the service, or `unreachable` or `answer_unreadable` of the console. */
  readonly code: string
  /** Names the request in the service's log; null without an answer. */
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null

  constructor(message: string, refusal: Pick<Refusal, 'status' | 'code' | 'requestId' | 'retryAfterSeconds'>, cause?: unknown) {
    super(message, { cause })
    this.status = refusal.status
    this.code = refusal.code
    this.requestId = refusal.requestId
    this.retryAfterSeconds = refusal.retryAfterSeconds
  }
}

/** True for an answer that says that there is no session, or that it has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Refusal && error.status === 401
}

/**
 * Sends a request with the session's cookie. Null for an answer without a body.
 * @throws Refusal; the signal's reason when it aborts
 */
export async function send(request: ApiRequest, signal?: AbortSignal): Promise<unknown> {
  const { method, body } = request
  const response = await fetch(targetOf(request), {
    method,
    credentials: 'same-origin',
    cache: 'no-store',
    redirect: 'error',
    headers: {
      accept: 'application/json',
      ...(method === 'GET' ? {} : { 'x-trunkline-operator': '1' }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal === undefined ? [] : [signal])])
  }).catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw unreachable(cause)
  })
  const text = await response.text().catch((cause: unknown) => {
    signal?.throwIfAborted()
    throw unreachable(cause)
  })
  const requestId = response.headers.get('x-request-id')
  const answer = text === '' ? null : parsed(text)
  if (!response.ok) throw refusalOf(response, answer, requestId)
  if (answer === undefined) {
    const found = response.headers.get('content-type') ?? 'no content type'
    throw new Refusal(`Expected JSON, got ${found}. A proxy between this page and the service may have answered.`, {
      ...{ status: response.status, code: 'answer_unreadable', requestId, retryAfterSeconds: null }
    })
  }
  return answer
}

function unreachable(cause: unknown): Refusal {
  return new Refusal(
    'The service did not answer. Check that it runs and that this machine reaches it, then try again.',
    { status: 0, code: 'unreachable', requestId: null, retryAfterSeconds: null },
    cause
  )
}

/** Undefined for text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusalOf(response: Response, answer: unknown, requestId: string | null): Refusal {
  const { message, code, detail, request_id: id } = fieldsOf(answer)
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new Refusal(textOr(message, textOr(detail, `The answer has the status ${response.status} and no message.`)), {
    status: response.status,
    code: textOr(code, `status_${response.status}`),
    requestId: typeof id === 'string' ? id : requestId,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null
  })
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise
}

/** The members of a JSON object; none for anything else. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {}
}

/** Reads a record. The service is of the same build as the console, so its shape is not checked again. */
export async function read<T>(request: ApiRequest, signal?: AbortSignal): Promise<T> {
  return (await send(request, signal)) as T
}

/** A request for `/admin/v1` and more. Parts of a path that come from records are encoded by the caller. */
export function get(path: string, query: Readonly<Record<string, string | undefined>> = {}): ApiRequest {
  return { method: 'GET', path: `${API}${path}`, query }
}

/** One page of a list. */
export interface Page<Row> {
  readonly data: readonly Row[]
  /** Null on the last page. */
  readonly next_cursor: string | null
}

/** The session of this browser. */
export interface Session {
  readonly session_id: string
  readonly operator: string
  readonly scopes: readonly string[]
  readonly expires_at: string | null
}
/** The state of the service, counted from the memory of its nodes. */
export interface Overview {
  /** What a newcomer does first; null where it could not be determined. */
  readonly steps: {
    readonly user_created: boolean | null
    readonly sandbox_connected: boolean | null
    readonly order_placed: boolean | null
  }
  readonly nodes: readonly NodeOverview[]
}
export interface NodeOverview {
  readonly node: string
  readonly version: string | null
  readonly started_at: string | null
  /** Null: it did not answer. */
  readonly health: 'ok' | 'draining' | 'failing' | null
  /** Why `health` is not `ok`. */
  readonly reason: string | null
  /** The minutes of the last 24 hours that had requests; null: it did not answer. */
  readonly minutes: readonly TrafficMinute[] | null
}
export interface TrafficMinute {
  readonly at: string
  readonly requests: number
  /** Failed requests, by code. */
  readonly errors: Readonly<Record<string, number>>
}
export interface Platform {
  readonly platform_id: string
  readonly name: string | null
  readonly created_at: string
}
export interface User {
  readonly user_key: string
  readonly user_id: string
  readonly platform_id: string
  readonly created_at: string
  readonly disabled_at: string | null
}
export interface Connection {
  readonly connection_id: string
  readonly user_key: string
  readonly user_id: string
  readonly platform_id: string
  readonly broker: string
  readonly connection_type: string
  readonly status: string
  readonly broken_code: string | null
  readonly broken_reason: string | null
  readonly environment: string | null
  /** Null: the user's owner did not answer. */
  readonly health: string | null
  readonly health_since: string | null
  readonly health_reason: string | null
  readonly created_at: string
}
export interface Order {
  readonly order_id: string
  readonly cl_order_id: string
  readonly user_key: string
  readonly user_id: string
  readonly connection_id: string
  readonly account_id: string
  readonly account_number: string
  readonly broker: string
  readonly normalized_status: string
  readonly broker_status: string | null
  readonly broker_message: string | null
  readonly reject_code: string | null
  readonly submission: {
    readonly state: string
    readonly since: string
    readonly attempts: number
    readonly method: string | null
  }
  readonly side: string
  readonly order_qty: string | null
  readonly order_notional: string | null
  readonly filled_qty: string
  readonly average_fill_price: string | null
  readonly order_type: string
  readonly order_tif: string
  readonly order_limit_price: string | null
  readonly stop_price: string | null
  readonly symbol: string | null
  readonly instrument: string
  readonly trading_day: string
  readonly entry_time: string
  readonly last_exec_time: string | null
  readonly last_modified_time: string
  readonly replaces_order_id: string | null
  readonly replaced_by_order_id: string | null
  readonly revision: number
}
/** A step of an order. Members beside these are shown under their names. */
export interface OrderStep {
  readonly step: string
  readonly at: string | null
  readonly took_ms?: number | null
}
export interface OrderSteps {
  readonly data: readonly OrderStep[]
  /** Why steps may be missing; null if none are. */
  readonly incomplete: string | null
}
/** An update of a user's log. */
export interface UserEvent {
  readonly seq: number
  readonly event_id: string
  readonly type: string
  readonly user_id: string
  readonly data: unknown
}
export interface EventPage {
  readonly data: readonly UserEvent[]
  readonly next_after: number | null
  readonly oldest_seq: number
  readonly last_seq: number
}
export interface LoggedRequest {
  readonly request_id: string
  readonly at: string
  readonly method: string
  /** The pattern of the route. */
  readonly route: string | null
  readonly status: number
  readonly code: string | null
  readonly took_ms: number
  readonly platform_id: string | null
  readonly user_id: string | null
  readonly address: string | null
  readonly node: string | null
}
export interface AuditEntry {
  readonly sequence: string
  readonly at: string
  readonly actor: string | null
  readonly action: string
  readonly target: string | null
  readonly request_id: string | null
}
export interface Delivery {
  readonly delivery_id: string
  readonly message_id: string
  readonly endpoint_id: string
  readonly user_id: string | null
  readonly reason: string
  readonly attempt: number
  readonly started_at: string
  readonly took_ms: number
  readonly status: number | null
  /** Null: it was delivered. */
  readonly failure: string | null
  readonly retry_at: string | null
}
/** What an id names. */
export interface Found {
  readonly kind: string
  readonly id: string
  readonly user_key: string | null
}
