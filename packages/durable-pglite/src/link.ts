/** The connection to the engine's thread: messages answered in the order they were sent. */
import type { Worker } from 'node:worker_threads'
import { CommitUnknown } from '@trunkline/core/ports/store'
import { EngineUnavailable } from './errors.ts'

/** Sends wire messages; the engine answers each with its bytes. */
export interface Link {
  /**
   * @throws CommitUnknown when the engine was lost after the message left
   * @throws EngineUnavailable when it was lost before
   */
  send(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array>
}

interface Waiting {
  readonly resolve: (answer: Uint8Array) => void
  readonly reject: (reason: Error) => void
}

export class WorkerLink implements Link {
  readonly #worker: Worker
  readonly #waiting: Waiting[] = []
  #lost: { readonly cause: unknown } | null = null

  constructor(worker: Worker) {
    this.#worker = worker
    worker.on('message', message => {
      if (message instanceof Uint8Array) this.#waiting.shift()?.resolve(message)
    })
  }

  send(message: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    if (this.#lost !== null) return Promise.reject(new EngineUnavailable('closed', 'the database engine is gone', this.#lost))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(message, [message.buffer])
    })
  }

  /** Rejects every waiting message: the thread ended before answering. */
  lose(cause: unknown): void {
    this.#lost ??= { cause }
    for (const { reject } of this.#waiting.splice(0))
      reject(new CommitUnknown('the database engine was lost before it answered', { cause }))
  }
}
