/** Tries a NATS server once, for `check-config`. */
import { readFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { connect, errors } from '@nats-io/transport-node'
import { type NatsAccess, optionsOfAccess } from './nats-access.ts'
import { LINK_LIMITS } from './nats-link.ts'

/** What keeps a node from using a server: nothing answers there, it refuses the credentials, or anything after these. */
export interface ProbeFailure {
  readonly at: 'address' | 'credentials' | 'connect'
  readonly cause: unknown
}

const GREETING = 'INFO '

/**
 * Connects to one server as a node would, and leaves nothing open. Null: it can be used.
 * @param ms the limit of each of the two steps
 */
export async function probeNats(access: NatsAccess, address: string, ms = LINK_LIMITS.dialMs): Promise<ProbeFailure | null> {
  try {
    // Before the client, which leaves the socket to a server that does not answer open.
    await greetingOf(address, ms)
  } catch (cause) {
    return { at: 'address', cause }
  }
  try {
    const credentials = access.credentialsFile === null ? null : await readFile(access.credentialsFile)
    const servers = { ...access.servers, addresses: [address] }
    const options = {
      ...optionsOfAccess({ ...access, servers }, credentials),
      name: 'trunkline check-config',
      timeout: ms,
      reconnect: false
    }
    await (await connect(options)).close()
    return null
  } catch (cause) {
    return { at: cause instanceof errors.AuthorizationError ? 'credentials' : 'connect', cause }
  }
}

/** Resolves once the server has greeted as NATS does. */
async function greetingOf(address: string, ms: number): Promise<void> {
  const { hostname, port } = new URL(`nats://${address}`)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connectSocket({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port) })
  let text = ''
  socket.setTimeout(ms, () => reject(new Error(`no answer for ${ms / 1_000} s`)))
  socket.setEncoding('latin1').on('data', (more: string) => {
    text = (text + more).slice(0, GREETING.length)
    if (text === GREETING) resolve()
    else if (!GREETING.startsWith(text)) reject(new Error('it is no NATS server'))
  })
  socket.once('error', reject)
  socket.once('close', () => reject(new Error('it closed the connection without a greeting')))
  try {
    await promise
  } finally {
    socket.destroy()
  }
}
