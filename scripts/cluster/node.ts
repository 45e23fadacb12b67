// A node of the cluster: the service as it runs everywhere, with the settings of a node.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Program } from './program.ts'

const SERVICE = fileURLToPath(import.meta.resolve('@trunkline/server/main'))
/** Above TRUNKLINE_SHUTDOWN_SECONDS, at which the service ends itself. */
const END_MS = 40_000

/** What all nodes have in common. */
export interface ClusterSettings {
  readonly databaseUrl: string
  readonly natsUrl: string
  readonly masterKeys: string
  /** The address of the balancer. */
  readonly publicUrl: string
  readonly sandboxUrl: string
  readonly sandboxClientSecret: string
}

export interface NodeAddress {
  readonly number: number
  readonly port: number
  /** Of the listener between nodes. */
  readonly portBetween: number
  readonly dataDir: string
  readonly logFile: string
  /** Whether the balancer passes connections to it. */
  readonly isReady: () => Promise<boolean>
}

export function node(
  { number, port, portBetween, dataDir, logFile, isReady }: NodeAddress,
  settings: ClusterSettings,
  inherited: Readonly<Record<string, string | undefined>>
): Program {
  const name = String(number)
  return {
    ...{ name, title: `node ${name}`, address: `http://127.0.0.1:${port}`, logFile, runAs: null },
    ...{ command: process.execPath, args: [SERVICE] },
    env: {
      // Otherwise the log is full of the balancer's questions about its health.
      TRUNKLINE_ACCESS_LOG: 'problems',
      ...inherited,
      TRUNKLINE_HOST: '127.0.0.1',
      TRUNKLINE_PORT: String(port),
      TRUNKLINE_NODE_HOST: '127.0.0.1',
      TRUNKLINE_NODE_PORT: String(portBetween),
      TRUNKLINE_NODE_URL: `http://127.0.0.1:${portBetween}`,
      TRUNKLINE_PUBLIC_URL: settings.publicUrl,
      TRUNKLINE_DATA_DIR: join(dataDir, `node-${name}`),
      TRUNKLINE_DATABASE_URL: settings.databaseUrl,
      TRUNKLINE_NATS_URL: settings.natsUrl,
      TRUNKLINE_MASTER_KEYS: settings.masterKeys,
      TRUNKLINE_SANDBOX_URL: settings.sandboxUrl,
      TRUNKLINE_SANDBOX_CLIENT_SECRET: settings.sandboxClientSecret
    },
    ...{ endSignal: 'SIGTERM', endMs: END_MS, restarts: true },
    isReady
  }
}
