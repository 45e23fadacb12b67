// The programs of a cluster, with their settings, in the order in which they start.
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Settings, settingsOf } from '@trunkline/server/config/settings'
import { callbackUrl } from '@trunkline/server/portal/callback-url'
import { secretIn } from './files.ts'
import { nats } from './nats.ts'
import { type ClusterSettings, node } from './node.ts'
import type { Ports } from './options.ts'
import { type Postgres, postgres } from './postgres.ts'
import type { Program } from './program.ts'
import { type Sandbox, sandbox } from './sandbox.ts'

export interface Layout {
  readonly publicUrl: string
  /** The settings of the first node. */
  readonly settings: Settings
  readonly database: Postgres
  readonly sandbox: Sandbox
  /**
   * What nodes use; then the first node, which migrates the schema and makes the demo platform; then the others. Each group starts when
   * the one before is ready.
   */
  readonly groups: readonly [services: readonly Program[], first: readonly Program[], others: readonly Program[]]
}

/**
 * @param isReady whether the balancer passes connections to a node
 * @throws Error that says what is missing, or SettingsInvalid
 */
export function layoutOf(
  dataDir: string,
  ports: Ports,
  env: Readonly<Record<string, string | undefined>>,
  isReady: (name: string) => boolean
): Layout {
  const logs = join(dataDir, 'logs')
  mkdirSync(logs, { recursive: true, mode: 0o700 })
  const logFile = (name: string) => join(logs, `${name}.log`)
  const publicUrl = `http://127.0.0.1:${ports.balancer}`
  const inherited = inheritedFrom(env)
  const bus = nats(dataDir, ports.nats, logFile('nats'), env)
  const inSandbox = settingsOf(inherited)
    .offers.filter(({ at }) => at === 'sandbox')
    .map(({ id }) => id)
  const brokerage = sandbox({
    ...{ dataDir, port: ports.sandbox, controlPort: ports.sandboxControl, logFile: logFile('sandbox'), env: inherited },
    redirectUris: inSandbox.map(broker => callbackUrl(publicUrl, broker, 'sandbox'))
  })
  const database = postgres(dataDir, ports.database, logFile('postgres'))
  const shared: ClusterSettings = {
    databaseUrl: database.url,
    natsUrl: bus.url,
    masterKeys: secretIn(join(dataDir, 'master-keys'), () => `cluster:${randomBytes(32).toString('base64')}`),
    publicUrl,
    sandboxUrl: brokerage.url,
    sandboxClientSecret: brokerage.clientSecret
  }
  const nodes = ports.nodes.map(({ http, between }, index) => {
    const number = index + 1
    const address = { number, port: http, portBetween: between, dataDir, logFile: logFile(`node-${number}`) }
    return node({ ...address, isReady: async () => isReady(String(number)) }, shared, inherited)
  })
  return {
    ...{ publicUrl, database, sandbox: brokerage, settings: settingsOf(nodes[0]?.env ?? {}) },
    groups: [[database.program, bus.program, brokerage.program], nodes.slice(0, 1), nodes.slice(1)]
  }
}

/** The user's settings reach the nodes and the sandbox; npm's variables would make a node watch for the end of npm. */
function inheritedFrom(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('npm_')))
}
