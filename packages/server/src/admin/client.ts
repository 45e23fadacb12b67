import { type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'
import { AdminRefused, type Input, type OperationName, type Output, type Run } from './operations.ts'
import { bindable, isAnswered, socketPathIn, statOf } from './socket.ts'

/** An operation that failed in the service. */
export class AdminFailed extends Error {
  override readonly name = 'AdminFailed'
}

/** Performs operations in the service that runs on a data directory. */
export class AdminClient {
  readonly #path: string

  private constructor(path: string) {
    this.#path = path
  }

  /** Null if no service answers. @throws AdminRefused if the socket cannot be trusted or reached. */
  static async connect(dataDir: string): Promise<AdminClient | null> {
    const path = socketPathIn(dataDir)
    const found = statOf(path)
    if (found === null || !found.isSocket()) return null
    const ours = process.geteuid === undefined || found.uid === process.geteuid() || process.geteuid() === 0
    if (!ours) throw new AdminRefused(`${path} belongs to another user (id ${found.uid}); run this as that user`)
    // Its responses are shown as a platform's secrets, so no other user's process may have created the socket.
    if ((found.mode & 0o077) !== 0) throw new AdminRefused(`${path} is open to other users; it is not the service's own socket`)
    return (await isAnswered(path)) ? new AdminClient(path) : null
  }

  /** @throws AdminRefused, AdminFailed */
  async perform<Name extends OperationName>(name: Name, input: Input<Name>, run: Run): Promise<Output<Name>> {
    const response = await this.#post(name, JSON.stringify({ by: run.by, input }), run.signal)
    for await (const line of createInterface({ input: response })) {
      const answer = JSON.parse(line)
      if ('progress' in answer) run.progress(answer.progress)
      else if ('output' in answer) return answer.output
      else if ('refused' in answer) throw new AdminRefused(answer.refused)
      else throw new AdminFailed(`The service could not perform this: ${answer.failed}. See its log.`)
    }
    throw new AdminFailed('The service stopped before this was done. Run this again to finish.')
  }

  #post(name: OperationName, body: string, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const sent = request({ socketPath: bindable(this.#path), method: 'POST', path: `/${name}`, headers, signal }, resolve)
      sent.on('error', reject)
      sent.end(body)
    })
  }
}
