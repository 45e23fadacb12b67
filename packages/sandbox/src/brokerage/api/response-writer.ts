/** Writes responses, and injects all faults of HTTP. */

import type { ServerResponse } from 'node:http'
import type { Counters } from '../counters.ts'
import type { Fault, Operation } from '../faults.ts'
import { Problem, type ProblemCode } from '../problems.ts'
import { spoilt } from './spoilt.ts'

/** A complete HTTP response. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number | readonly string[]>>
  readonly text: string
}

export interface ResponseWriterDeps {
  readonly counters: Counters
  /** Ends early when the sandbox closes. */
  readonly wait: (ms: number) => Promise<void>
  /** The sandbox's error body. */
  readonly problem: (problem: Problem) => Answer
}

export interface Exchange {
  readonly operation: Operation
  readonly response: ServerResponse
  readonly fault: Fault | undefined
  /** Carries out the operation. Called at most once; never throws for a mistake of the client. */
  readonly carryOut: () => Promise<Answer> | Answer
  /** The error body of this protocol, if it is not the sandbox's own. `code`: the one that the fault sets. */
  readonly problem?: (problem: Problem, code: string | null) => Answer
  /** Status of a response to a creation, if it is not 201. */
  readonly created?: number
}

const PAGE = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'

export class ResponseWriter {
  readonly #deps: ResponseWriterDeps

  constructor(deps: ResponseWriterDeps) {
    this.#deps = deps
  }

  async serve(exchange: Exchange): Promise<void> {
    const { fault, operation } = exchange
    this.#deps.counters.request(operation)
    if (fault === undefined) this.#send(exchange, await exchange.carryOut())
    else {
      this.#deps.counters.fault(operation)
      await this.#strike(exchange, fault)
    }
  }

  async #strike(exchange: Exchange, fault: Fault): Promise<void> {
    if (fault.do === 'delay' && !fault.after) await this.#deps.wait(fault.ms)
    const carriesOut = fault.after || CARRIED_OUT.has(fault.do)
    const truth = carriesOut ? await exchange.carryOut() : undefined
    switch (fault.do) {
      case 'lose_answer':
      case 'reset':
        return this.#cut(exchange)
      case 'hang':
        return this.#deps.counters.answer(exchange.operation, 'none')
      case 'status':
        return this.#send(exchange, this.#problem(exchange, fault))
      case 'html':
        return this.#send(exchange, { status: fault.status ?? 200, headers: { 'content-type': 'text/html; charset=utf-8' }, text: PAGE })
      case 'garbage':
        return this.#send(exchange, garbage(exchange, fault))
      case 'refuse':
        return this.#send(exchange, this.#shown(exchange, refusal(fault), fault.code))
      default:
        break
    }
    if (truth === undefined) throw new Error(`the fault ${fault.do} did not run the operation`)
    if (fault.do === 'delay' && fault.after) await this.#deps.wait(fault.ms)
    // The submit of a hidden order gets no answer, unless it was refused or the fault asks for one: that is the purpose of hiding it.
    if (fault.do === 'hide' && !fault.answer && truth.status < 400) return this.#cut(exchange)
    if (fault.do === 'truncate') return this.#send(exchange, { ...truth, text: truth.text.slice(0, Math.floor(truth.text.length / 2)) })
    this.#send(exchange, fault.do === 'spoil' ? { ...truth, text: spoilt(truth.text, fault) } : truth)
  }

  #problem(exchange: Exchange, fault: Fault): Answer {
    const status = fault.status ?? 500
    const detail = { status, ...(fault.retryAfter === null ? {} : { retryAfter: fault.retryAfter }) }
    const problem = new Problem(codeOf(status), fault.message ?? 'The control API injected this response.', detail)
    return this.#shown(exchange, problem, fault.code)
  }

  #shown(exchange: Exchange, problem: Problem, code: string | null): Answer {
    return exchange.problem?.(problem, code) ?? this.#deps.problem(problem)
  }

  #send({ response, operation }: Exchange, { status, headers, text }: Answer): void {
    this.#deps.counters.answer(operation, status)
    if (response.destroyed || response.headersSent) return
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) })
    response.end(text)
  }

  #cut({ response, operation }: Exchange): void {
    this.#deps.counters.answer(operation, 'none')
    const { socket } = response
    if (socket === null || socket.writableEnded) response.destroy()
    else socket.resetAndDestroy()
  }
}

/** Faults that let the operation happen. */
const CARRIED_OUT: ReadonlySet<string> = new Set([
  'lose_answer',
  'delay',
  'truncate',
  'refuse_later',
  'slow',
  'empty',
  'lose_page',
  'spoil',
  'hide',
  'place'
])

function garbage({ operation, created = 201 }: Exchange, fault: Fault): Answer {
  const text = typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body ?? { ok: true })
  return { status: operation === 'orders.submit' ? created : 200, headers: { 'content-type': 'application/json; charset=utf-8' }, text }
}

function refusal(fault: Fault): Problem {
  const status = { status: fault.status ?? 422 }
  const problem = new Problem('refused_by_operator', fault.message ?? 'The operator has refused this order.', { ...status, order: null })
  return fault.code === null ? problem : problem.as(fault.code)
}

function codeOf(status: number): ProblemCode {
  if (status === 401) return 'token_invalid'
  if (status === 403) return 'scope_missing'
  if (status === 404) return 'unknown_route'
  if (status === 429) return 'slow_down'
  return status < 500 ? 'bad_request' : 'internal_error'
}
