// The service as a program with a configurable crash point, started again and again over the same data.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PATIENCE_MS } from '../patience.ts'
import { SHORT_LIVED } from '../short-lived.ts'
import { within } from '../within.ts'
import { ChildProgram } from './child-program.ts'
import type { Demo } from './platform.ts'
import type { Json } from './sandbox-process.ts'

/** The point at which the program kills itself, or its store fails. `record` is the durable write of an order's change. */
export type CrashPoint =
  | { readonly at: 'before_record' | 'after_record'; readonly what: RecordKind }
  /** This many milliseconds after the write was given to the store, or when it is written, if that is sooner. */
  | { readonly at: 'during_record'; readonly what: RecordKind; readonly ms: number }
  | { readonly at: 'before_command' | 'after_command'; readonly what: 'submit' | 'cancel' | 'replace' }
  /** The connection to the sandbox is open, and the request's first byte is about to be written. */
  | { readonly at: 'before_first_byte' }
  /** Right before the answer of `POST /orders` is written. */
  | { readonly at: 'before_answer' }
  /** No crash: one commit is not confirmed, whether or not it happened; optionally, the stored state cannot be read then. */
  | { readonly at: 'doubtful_record'; readonly what: RecordKind; readonly written: boolean; readonly readable: boolean }
  /** No crash: this number of writes is refused. */
  | { readonly at: 'refused_record'; readonly what: RecordKind; readonly times: number }

/** A new order; the broker's answer to a command; an unsolicited broker event; a cancel's intent; a replacement's, with its successor. */
export type RecordKind = 'place' | 'reply' | 'report' | 'cancel' | 'replace'

/** Internal fields of a stored order. */
export interface StoredOrder {
  readonly orderId: string
  readonly brokerClOrdId: string
  readonly brokerOrderId: string | null
  readonly revision: number
  readonly status: string
}

/** An entry of a user's event log. */
export interface LogEntry {
  readonly seq: number
  readonly eventId: string
  readonly topic: string
  /** Of an order's event. */
  readonly order: StoredOrder | null
}

/** Requests of the harness to the program, over their channel. */
export type Question = { readonly id: number } & Request

type Request =
  | { readonly ask: 'arm'; readonly point: CrashPoint }
  | { readonly ask: 'order'; readonly orderId: string }
  | { readonly ask: 'log'; readonly orderId: string }

export class ServiceProcess extends ChildProgram {
  #demo: Demo | null = null

  private constructor(program: string, env: Readonly<Record<string, string | undefined>>) {
    super(program, env, SHORT_LIVED)
  }

  /** @param program the file to run. @param env all of its environment. */
  static async start(program: string, env: Readonly<Record<string, string | undefined>>): Promise<ServiceProcess> {
    const service = new ServiceProcess(program, env)
    try {
      const ready = Promise.race([once(service.child, 'message'), service.died()])
      const [message]: Json[] = await within(PATIENCE_MS, ready, () => `the service was ready:\n${service.output}`)
      assert.ok(message.ready, JSON.stringify(message))
      service.#demo = message.ready
      return service
    } catch (cause) {
      service.kill()
      await service.ended()
      throw cause
    }
  }

  get demo(): Demo {
    assert.ok(this.#demo !== null)
    return this.#demo
  }

  /** Arms the configured point. */
  async arm(point: CrashPoint): Promise<void> {
    await this.#question({ ask: 'arm', point })
  }

  async order(orderId: string): Promise<StoredOrder | null> {
    return await this.#question({ ask: 'order', orderId })
  }

  /** The whole event log of the order's user. */
  async log(orderId: string): Promise<readonly LogEntry[]> {
    return await this.#question({ ask: 'log', orderId })
  }

  async #question(request: Request): Promise<Json> {
    return await this.ask(request)
  }
}
