// The operators' API as the console uses it: requests and refusals.
import type { Changes, Reads } from './generated/admin.ts'
import { type ApiRequest, targetOf } from './snippets.ts'

export const API = '/admin/v1'
const READ_MS = 40_000
/** The service may take a minute for a change of the sandbox, and a change that is given up here has an unknown outcome. */
const CHANGE_MS = 75_000

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

/** True for an answer that says that there is no session, or that it has ended: not each 401, since a missing scope has that status too. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'credentials_invalid'
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
    signal: AbortSignal.any([AbortSignal.timeout(method === 'GET' ? READ_MS : CHANGE_MS), ...(signal === undefined ? [] : [signal])])
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

/** A request whose answer has this type. */
export interface ReadRequest<Answer> extends ApiRequest {
  readonly method: 'GET'
  /** For the compiler only: no request has it. */
  readonly answer?: Answer
}

/** Reads a record. The service is of the same build as the console, so its shape is not checked again. */
export async function read<Answer>(request: ReadRequest<Answer>, signal?: AbortSignal): Promise<Answer> {
  return (await send(request, signal)) as Answer
}

type Parts<Path extends keyof Reads> = Readonly<Record<Reads[Path]['parts'], string>>
type FiltersOf<Path extends keyof Reads> = { readonly [name in Reads[Path]['filters']]?: string | undefined }

/** A request for what is at a path below `/admin/v1`, whose parts are encoded here. Filters that are undefined are not sent. */
export function get<Path extends keyof Reads>(
  path: Path,
  parts: Parts<Path>,
  filters: FiltersOf<Path> = {}
): ReadRequest<Reads[Path]['answer']> {
  return { method: 'GET', path: `${API}${encoded(path, parts)}`, query: filters }
}

function encoded(path: string, parts: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(parts[name] ?? ''))
}

/** A request that changes something, and whose answer has this type. */
export interface ChangeRequest<Answer> extends ApiRequest {
  /** For the compiler only: no request has it. */
  readonly answer?: Answer
}

/** A change by its method and path below `/admin/v1`, whose parts are encoded here. */
export function change<Name extends keyof Changes>(
  name: Name,
  parts: Readonly<Record<Changes[Name]['parts'], string>>,
  body: Changes[Name]['body']
): ChangeRequest<Changes[Name]['answer']> {
  const [method, path = ''] = name.split(' ', 2)
  const known = (['POST', 'PATCH', 'DELETE'] as const).find(each => each === method) ?? 'POST'
  return { method: known, path: `${API}${encoded(path, parts)}`, ...(body === undefined ? {} : { body }) }
}

/** Sends a change once. */
export async function carryOut<Answer>(request: ChangeRequest<Answer>): Promise<Answer> {
  return (await send(request)) as Answer
}

/**
 * Whether nothing is known of a change after this error: it may have been made. A refusal is known only from a code of the service, which
 * says with `internal` that it does not know either, and with `sandbox_unavailable` that the sandbox gave no answer.
 */
export function isOutcomeUnknown(error: unknown): boolean {
  if (!(error instanceof Refusal) || error.status < 400) return true
  return ['internal', 'sandbox_unavailable'].includes(error.code) || error.code.startsWith('status_')
}

/** One page of a list. */
export interface Page<Row> {
  readonly data: readonly Row[]
  /** Null on the last page. */
  readonly next_cursor: string | null
  /** Nodes whose rows are missing, in lists that nodes have in memory. */
  readonly unanswered_nodes?: readonly string[]
}
