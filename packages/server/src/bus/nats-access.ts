import type { NodeConnectionOptions } from '@nats-io/transport-node'
import { credsAuthenticator } from '@nats-io/transport-node'
import type { NatsServers } from '../config/nats-servers.ts'

/** Where NATS is, and what a node needs to be let in. */
export interface NatsAccess {
  readonly servers: NatsServers
  /** The file with this node's JWT and key; read at each connect, so that it can be replaced. */
  readonly credentialsFile: string | null
  /** The file with the certificate authority of the servers, which then must use TLS. Null: those that Node.js trusts. */
  readonly caFile: string | null
}

/** The part of the client's options that follows from the settings. @param credentials the contents of the credentials file */
export function optionsOfAccess(
  { servers, caFile }: Pick<NatsAccess, 'servers' | 'caFile'>,
  credentials: Uint8Array | null
): NodeConnectionOptions {
  return {
    servers: [...servers.addresses],
    ...(credentials === null ? {} : { authenticator: credsAuthenticator(credentials) }),
    ...(servers.token === null ? {} : { token: servers.token }),
    ...(servers.user === null ? {} : { user: servers.user, pass: servers.password ?? '' }),
    ...(caFile !== null ? { tls: { caFile } } : servers.tls ? { tls: {} } : {})
  }
}
