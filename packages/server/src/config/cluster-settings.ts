import { optionalNatsUrl } from './nats-servers.ts'
import { optionalInteger, optionalOrigin, optionalText, type SettingFault, type Table, text } from './setting.ts'

/** Settings that only nodes of a cluster have. A single process needs none of them. */
export const CLUSTER_SETTINGS = {
  nodePort: {
    group: 'Cluster',
    env: 'TRUNKLINE_NODE_PORT',
    parse: optionalInteger(0, 65_535),
    fallback: '',
    about:
      'Port on which this node takes requests that other nodes pass on; `0` picks a free one. It is opened in a cluster only. It takes only what a node with the same master keys has signed, and requests of clients are encrypted, but messages between nodes and market data are not: keep it in a private network.'
  },
  nodeHost: {
    group: 'Cluster',
    env: 'TRUNKLINE_NODE_HOST',
    parse: text,
    fallback: '127.0.0.1',
    about: 'Address to listen on for other nodes.'
  },
  nodeUrl: {
    group: 'Cluster',
    env: 'TRUNKLINE_NODE_URL',
    parse: optionalOrigin,
    fallback: '',
    about: 'Origin at which other nodes reach this one. Empty: the address and port to listen on.'
  },
  natsUrl: {
    group: 'Cluster',
    env: 'TRUNKLINE_NATS_URL',
    parse: optionalNatsUrl,
    fallback: '',
    about:
      'NATS for the messages between nodes, such as `nats://user:password@host:4222`, or `tls://…` with the host’s name to demand TLS; several servers of one NATS cluster are separated by commas. A user without a password is a token. Empty: this node is alone. NATS needs no storage, and losing it loses nothing: updates then come up to two seconds later.',
    secret: true
  },
  natsCredentials: {
    group: 'Cluster',
    env: 'TRUNKLINE_NATS_CREDENTIALS',
    parse: optionalText,
    fallback: '',
    about: 'Credentials file for NATS (JWT and key, as `nsc` writes it), read at each connect. Empty: what the URL has.'
  },
  natsCa: {
    group: 'Cluster',
    env: 'TRUNKLINE_NATS_CA',
    parse: optionalText,
    fallback: '',
    about: 'File with the certificate authority of the NATS servers, in PEM; demands TLS. Empty: those that Node.js trusts.'
  }
} as const satisfies Table

/** What {@link clusterFaults} looks at. `undefined` is a setting that could not be read, which has a fault of its own. */
interface Given {
  readonly natsUrl?: string | null
  readonly databaseUrl?: string | null
  readonly absenceSeconds?: number
  readonly commandMs?: number
}

/** What does not fit together in a cluster. */
export function clusterFaults({ natsUrl, databaseUrl, absenceSeconds, commandMs }: Given): readonly SettingFault[] {
  if (natsUrl == null) return []
  const faults: SettingFault[] = []
  if (databaseUrl === null) {
    const message =
      'needs TRUNKLINE_DATABASE_URL: the nodes of a cluster share one PostgreSQL, and the embedded database belongs to one process. Set that too, or leave this out to run alone.'
    faults.push({ env: 'TRUNKLINE_NATS_URL', message })
  }
  if (absenceSeconds !== undefined && commandMs !== undefined && absenceSeconds * 1_000 <= commandMs) {
    const message = `must be longer than TRUNKLINE_COMMAND_MS in a cluster: an order that one node is still sending must not count as never received at the next one. They are ${absenceSeconds} s and ${commandMs} ms; raise this one, or lower that one.`
    faults.push({ env: 'TRUNKLINE_ABSENCE_SECONDS', message })
  }
  return faults
}
