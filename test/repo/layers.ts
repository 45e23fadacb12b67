// Which part may import which: the one table of import directions. ARCHITECTURE.md explains it; layers.test.ts enforces it.

/**
 * A layer is a path below packages, without its `src`: a folder, a file, or `folder/*` for each of its folders separately.
 * The most specific layer that holds a file is its layer. A layer may import itself, and the layers listed here: one that ends in a slash
 * stands for itself and every layer below it.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  // Files that a power cut leaves whole: the one thing that every program which keeps anything needs of the host alike.
  files: [],

  'core/domain': [],
  'core/ports': ['core/domain'],
  // What its parts share: small helpers, the ports together, who owns what.
  'core/app': ['core/domain', 'core/ports'],
  'core/app/broker-access': ['core/domain', 'core/ports', 'core/app'],
  'core/app/execution': ['core/domain', 'core/ports', 'core/app', 'core/app/broker-access'],
  'core/app/mirror': ['core/domain', 'core/ports', 'core/app', 'core/app/broker-access', 'core/app/execution'],
  'core/app/reconciliation': ['core/domain', 'core/ports', 'core/app', 'core/app/broker-access', 'core/app/execution', 'core/app/mirror'],
  // Begins and ends this node's work for users.
  'core/app/ownership': [
    'core/domain',
    'core/ports',
    'core/app',
    'core/app/broker-access',
    'core/app/execution',
    'core/app/market',
    'core/app/mirror',
    'core/app/reconciliation'
  ],
  'core/app/connections': ['core/domain', 'core/ports', 'core/app', 'core/app/broker-access', 'core/app/execution', 'core/app/mirror'],
  'core/app/connect': ['core/domain', 'core/ports', 'core/app', 'core/app/broker-access'],
  'core/app/market': ['core/domain', 'core/ports', 'core/app', 'core/app/broker-access', 'core/app/connections'],
  'core/app/accounts': ['core/domain', 'core/ports', 'core/app', 'core/app/mirror'],
  'core/app/events': ['core/domain', 'core/ports', 'core/app'],
  'core/app/users': ['core/domain', 'core/ports', 'core/app', 'core/app/connections'],
  // What only operators do and see.
  'core/app/operators': ['core/domain', 'core/ports', 'core/app', 'core/app/accounts', 'core/app/mirror', 'core/app/orders'],
  'core/app/orders': [
    'core/domain',
    'core/ports',
    'core/app',
    'core/app/accounts',
    'core/app/broker-access',
    'core/app/connections',
    'core/app/execution',
    'core/app/mirror',
    'core/app/reconciliation'
  ],
  // Puts the parts together; nothing else in core sees all of them.
  'core/app/application.ts': ['core/domain', 'core/ports', 'core/app/'],

  // The embedded database. Its faults are those of the store port.
  'durable-pglite': ['files', 'core/ports'],

  'brokers/kit': ['core/domain', 'core/ports'],
  'brokers/*': ['core/domain', 'core/ports', 'brokers/kit'],
  'brokers/registry.ts': ['core/domain', 'core/ports', 'brokers/kit', 'brokers/*'],

  'sandbox/engine': ['core/domain'],
  'sandbox/market': ['core/domain', 'sandbox/engine'],
  'sandbox/brokerage': ['files', 'core/domain', 'sandbox/engine', 'sandbox/market', 'sandbox/config.ts', 'sandbox/control-terms.ts'],
  // What the control API and the service's API for operators have in common.
  'sandbox/control-terms.ts': ['core/domain'],
  // What dialects share, and all that they see of the brokerage: `brokerage-view.ts` and `brokerage.ts`.
  'sandbox/dialects/frame': ['core/domain', 'sandbox/engine', 'sandbox/market', 'sandbox/brokerage'],
  'sandbox/dialects/*': ['core/domain', 'sandbox/dialects/frame'],
  'sandbox/dialects/index.ts': ['sandbox/brokerage', 'sandbox/dialects/*'],
  'sandbox/config.ts': ['core/domain', 'sandbox/market'],
  'sandbox/compose.ts': [
    'files',
    'core/domain',
    'sandbox/engine',
    'sandbox/market',
    'sandbox/brokerage',
    'sandbox/dialects/index.ts',
    'sandbox/config.ts'
  ],
  'sandbox/main.ts': [
    'files',
    'core/domain',
    'sandbox/engine',
    'sandbox/market',
    'sandbox/brokerage',
    'sandbox/dialects/index.ts',
    'sandbox/config.ts',
    'sandbox/compose.ts'
  ],

  // The brokers' own tables of settings come with their adapters; the sandbox's are checked and documented beside ours.
  'server/config': ['core/domain', 'core/ports', 'brokers/registry.ts', 'sandbox/config.ts'],
  'server/store': ['files', 'core/domain', 'core/ports', 'durable-pglite'],
  'server/auth': ['core/domain', 'core/ports', 'core/app/'],
  'server/vault': ['files', 'core/domain', 'core/ports'],
  'server/ops': ['files', 'core/domain', 'core/ports', 'core/app/', 'server/config'],
  // What our records and messages look like from outside, for every protocol that shows them.
  'server/wire': ['core/domain', 'core/ports', 'core/app/'],
  // Sends the events of users to the endpoints of their platforms.
  'server/webhooks': ['core/domain', 'core/ports', 'core/app/', 'server/auth', 'server/config', 'server/ops', 'server/wire'],
  'server/bus': ['core/domain', 'core/ports', 'core/app/', 'server/config'],
  'server/http': [
    'core/domain',
    'core/ports',
    'core/app/',
    'server/auth',
    'server/config',
    'server/ops',
    'server/wire',
    'server/http/docs'
  ],
  // What the live page and the console share: programs of the browser.
  'server/http/docs/live/client/trading': [],
  'server/http/docs/live/style': [],
  // The reference describes every protocol, with the limits its own code has.
  'server/http/docs': ['core/domain', 'core/app/', 'server/http', 'server/ops', 'server/stream', 'server/wire'],
  'server/stream': ['core/domain', 'core/ports', 'core/app/', 'server/auth', 'server/config', 'server/ops', 'server/wire'],
  // What passes between nodes: requests of users whom another node owns.
  'server/cluster/forward': ['core/domain', 'core/ports', 'core/app/', 'server/auth', 'server/http', 'server/stream'],
  // The provider that operators log in with.
  'server/oidc': ['core/domain', 'core/ports', 'core/app/', 'server/config'],
  // The API for operators, with credentials of its own.
  'server/operators': [
    'core/domain',
    'core/ports',
    'core/app/',
    'sandbox/control-terms.ts',
    'server/auth',
    'server/http',
    'server/http/docs',
    'server/oidc',
    'server/ops',
    'server/wire'
  ],
  'server/portal': ['core/domain', 'core/ports', 'core/app/', 'server/auth', 'server/config', 'server/ops'],
  // The console's files, as they were built.
  'server/console': ['server/ops'],
  'server/home': ['core/domain', 'core/ports', 'core/app/', 'server/config', 'server/ops'],
  // The demo starts the service as a program of its own.
  'server/demo': ['core/domain', 'server/config', 'server/main.ts', 'server/ops'],
  'server/admin': [
    'files',
    'core/domain',
    'core/ports',
    'core/app/',
    'server/auth',
    'server/config',
    'server/ops',
    'server/vault',
    'server/wire'
  ],
  // Nodes among themselves: leases, requests passed on, who follows whom.
  'server/cluster': ['core/domain', 'core/ports', 'core/app/'],
  'server/cluster/node.ts': ['core/domain', 'core/ports', 'core/app/', 'server/config', 'server/cluster', 'server/cluster/forward'],
  // What the metrics page shows of the running parts.
  'server/gauges.ts': [
    'core/domain',
    'core/ports',
    'core/app/',
    'server/bus',
    'server/cluster/node.ts',
    'server/ops',
    'server/stream',
    'server/webhooks'
  ],
  'server/from-settings.ts': ['core/domain', 'core/ports', 'core/app/', 'server/config', 'server/oidc', 'server/ops', 'server/store'],
  'server/own-sandbox.ts': [
    'brokers/registry.ts',
    'core/domain',
    'core/ports',
    'server/config',
    'server/operators',
    'server/ops',
    'server/portal'
  ],
  'server/hold-database.ts': ['core/app/', 'core/ports', 'server/config', 'server/ops', 'server/store'],
  'server/compose.ts': [
    'files',
    'core/domain',
    'core/ports',
    'core/app/',
    'brokers/kit',
    'brokers/registry.ts',
    'server/admin',
    'server/auth',
    'server/bus',
    'server/cluster',
    'server/cluster/node.ts',
    'server/config',
    'server/console',
    'server/from-settings.ts',
    'server/gauges.ts',
    'server/hold-database.ts',
    'server/home',
    'server/http',
    'server/oidc',
    'server/operators',
    'server/ops',
    'server/own-sandbox.ts',
    'server/portal',
    'server/store',
    'server/stream',
    'server/vault',
    'server/webhooks'
  ],
  // What a start and `check-config` look at alike.
  'server/preflight': ['files', 'sandbox/config.ts', 'server/admin', 'server/config', 'server/ops', 'server/vault'],
  'server/main.ts': [
    'files',
    'core/domain',
    'core/ports',
    'server/compose.ts',
    'server/config',
    'server/ops',
    'server/preflight',
    'server/store',
    'server/vault'
  ],
  'server/cli.ts': [
    'files',
    'core/domain',
    'core/ports',
    'core/app/',
    'brokers/registry.ts',
    'server/admin',
    'server/cli',
    'server/compose.ts',
    'server/config',
    'server/ops',
    'server/preflight',
    'server/store',
    'server/vault'
  ],
  'server/cli': [
    'files',
    'core/domain',
    'core/ports',
    'core/app/',
    'brokers/registry.ts',
    'server/admin',
    // What check-config tries: a NATS server as a node would use it.
    'server/bus',
    'server/compose.ts',
    'server/config',
    'server/oidc',
    'server/ops',
    'server/preflight',
    'server/store',
    'server/vault',
    'server/webhooks',
    'server/wire'
  ],

  // For other people's programs: it shares nothing with the service but the documents it is generated from.
  client: [],

  // A program of the browser: it knows the service by the operators' API only.
  console: [],
  'console/trading': ['console', 'server/http/docs/live/client/trading'],
  'console/parts': ['console', 'console/trading', 'server/http/docs/live/client/trading'],
  'console/pages': ['console', 'console/parts'],
  'console/router.tsx': ['console', 'console/parts', 'console/pages'],
  'console/main.tsx': ['console', 'console/parts', 'console/router.tsx', 'server/http/docs/live/style'],

  testkit: ['core/domain', 'core/ports', 'core/app/']
}

/** Parts of Node that a pure layer must do without: what it needs of the world is passed in. */
export const PURE_LAYERS: readonly string[] = ['core/domain/', 'core/ports/', 'core/app/', 'sandbox/engine/']
export const IMPURE_MODULES =
  /^node:(fs|fs\/promises|net|tls|http|https|http2|dgram|dns|child_process|worker_threads|cluster|process|os|timers|timers\/promises)$/

/** The layer of a file such as `packages/core/src/domain/order.ts`, or undefined when no layer holds it. */
export function layerOf(file: string): string | undefined {
  const [, name, inside] = /^packages\/([^/]+)\/src\/(.+)$/.exec(file) ?? []
  if (name === undefined || inside === undefined) return undefined
  const path = `${name}/${inside}`
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const prefix = path.slice(0, end)
    if (prefix in MAY_IMPORT) return prefix
    const cut = prefix.lastIndexOf('/')
    if (end < path.length && cut > 0 && `${prefix.slice(0, cut)}/*` in MAY_IMPORT) return prefix // one of the separate folders
  }
  return undefined
}

/** What is wrong with `from` importing `to`, or undefined. */
export function trespass(from: string, to: string): string | undefined {
  const [a, b] = [layerOf(from), layerOf(to)]
  if (a === undefined || b === undefined || a === b) return undefined
  return rowOf(a).some(row => row === nameInTable(b) || (row.endsWith('/') && `${b}/`.startsWith(row)))
    ? undefined
    : `${from} (${a}) may not import ${to} (${b})`
}

function rowOf(layer: string): readonly string[] {
  return MAY_IMPORT[nameInTable(layer)] ?? []
}

function nameInTable(layer: string): string {
  return layer in MAY_IMPORT ? layer : `${layer.slice(0, layer.lastIndexOf('/'))}/*`
}
