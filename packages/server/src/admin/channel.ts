import { randomBytes } from 'node:crypto'
import { chmodSync, renameSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { parseJson } from '@trunkline/core/domain/json'
import { Malformed } from '@trunkline/core/domain/malformed'
import type { Log } from '@trunkline/core/ports/log'
import { withoutSecrets } from '../ops/redact.ts'
import { KeyFileRefused } from '../vault/key-file.ts'
import type { Admin } from './index.ts'
import { INPUT_PARSERS, isOperation } from './input-parsers.ts'
import { printable } from './inputs.ts'
import { AdminRefused, type OperationName, type Run } from './operations.ts'
import { bindable, isAnswered, socketPathIn, statOf } from './socket.ts'

const BODY_BYTES_MAX = 256 * 1024
const CONNECTIONS_MAX = 8
const HEADERS_MS_MAX = 5_000
const REQUEST_MS_MAX = 10_000

/**
 * Serves operators' requests on a Unix socket in the data directory that only the service's user can open. A request is `POST /<operation>`
 * with `{by, input}`. The response is lines of JSON: any number of `{progress}`, then one of `{output}`, `{refused}` or `{failed}`.
 */
export class AdminChannel {
  readonly #admin: Admin
  readonly #path: string
  readonly #log: Log
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #server: Server | null = null
  #inode: number | null = null

  constructor(admin: Admin, { dataDir, log }: { readonly dataDir: string; readonly log: Log }) {
    this.#admin = admin
    this.#path = socketPathIn(dataDir)
    this.#log = log
  }

  /** The service also runs without the socket. If it cannot be opened, a warning is logged once. */
  async start(): Promise<void> {
    try {
      await this.#listen()
    } catch (cause) {
      this.#log.warn('the administration socket cannot be opened; stop the service to use the command line', { cause })
    }
  }

  /** Aborts running operations. The next rotation finishes one that was interrupted. */
  async stop(): Promise<void> {
    this.#stopping.abort(
      new AdminRefused('The service is shutting down. Run this again when it has restarted; that finishes the operation.')
    )
    await Promise.all(this.#running)
    const server = this.#server
    if (server === null) return
    const closed = new Promise(resolve => server.close(resolve))
    server.closeAllConnections()
    await closed
    // Another service may have replaced the socket file.
    if (statOf(this.#path)?.ino === this.#inode) rmSync(this.#path, { force: true })
  }

  async #listen(): Promise<void> {
    if (process.platform === 'win32') throw new AdminRefused('this system has no Unix sockets')
    const found = statOf(this.#path)
    if (found !== null && !found.isSocket()) throw new AdminRefused(`${this.#path} exists and is not a socket`)
    if (found !== null && (await isAnswered(this.#path)))
      throw new AdminRefused('another service already serves administrators of this data directory')
    const server = createServer({ requestTimeout: REQUEST_MS_MAX, headersTimeout: HEADERS_MS_MAX }, (request, response) => {
      const done = this.#answer(request, response).finally(() => this.#running.delete(done))
      this.#running.add(done)
    })
    server.maxConnections = CONNECTIONS_MAX
    this.#server = server
    // Bound under a temporary name and private from the start, then renamed over the file that a crashed service may have left.
    const draft = `${this.#path}.${randomBytes(4).toString('hex')}`
    await listening(server, bindable(draft))
    chmodSync(draft, 0o600)
    this.#inode = statOf(draft)?.ino ?? null
    renameSync(draft, this.#path)
    server.on('error', cause => this.#log.warn('the administration socket failed', { cause }))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort(new AdminRefused('the operator disconnected')))
    const send = (line: object) => response.writable && response.write(`${JSON.stringify(line)}\n`)
    response.writeHead(200, { 'content-type': 'application/x-ndjson', connection: 'close' })
    try {
      const { name, by, input } = await readRequest(request)
      const signal = AbortSignal.any([gone.signal, this.#stopping.signal])
      send({ output: await this.#perform(name, input, { by, signal, progress: progress => send({ progress }) }) })
    } catch (cause) {
      send(this.#failure(cause))
    }
    response.end()
  }

  #perform<Name extends OperationName>(name: Name, input: unknown, run: Run): Promise<unknown> {
    const parse = INPUT_PARSERS[name]
    return this.#admin.perform(name, parse(input), run)
  }

  #failure(cause: unknown): object {
    if (cause instanceof AdminRefused || cause instanceof KeyFileRefused || cause instanceof Malformed) return { refused: cause.message }
    this.#log.error('an administration operation failed', { cause })
    return { failed: withoutSecrets(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)) }
  }
}

/** `listen` binds before it returns, so the umask applies to the socket and to nothing else. */
function listening(server: Server, path: string): Promise<void> {
  const mask = process.umask(0o177)
  try {
    return new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(path, () => {
        server.off('error', reject)
        resolve()
      })
    })
  } finally {
    process.umask(mask)
  }
}

async function readRequest(request: IncomingMessage): Promise<{ name: OperationName; by: string; input: unknown }> {
  const name = /^\/([a-z_.]{1,64})$/.exec(request.url ?? '')?.[1] ?? ''
  if (request.method !== 'POST' || !isOperation(name))
    throw new AdminRefused(
      'The service does not know this operation. Its version may differ from that of the command: restart the service.'
    )
  const body = await readBody(request)
  if (typeof body !== 'object' || body === null || !('by' in body)) throw new Malformed('the request', 'an object with by and input', body)
  return { name, by: printable(body.by, 'by', 100), input: 'input' in body ? body.input : undefined }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > BODY_BYTES_MAX) throw new AdminRefused(`The request is larger than ${BODY_BYTES_MAX} bytes.`)
    chunks.push(chunk)
  }
  try {
    return parseJson(Buffer.concat(chunks).toString('utf8'), { what: 'the request' })
  } catch (cause) {
    throw new AdminRefused('The request is not JSON, or is nested too deeply.', { cause })
  }
}
