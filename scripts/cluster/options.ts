// The command line of `npm run cluster`.
import { parseArgs } from 'node:util'

export interface Options {
  readonly nodes: number
  /** The balancer's port; the others follow from it, so that every run has the same addresses. */
  readonly port: number
  /** Where the database, keys and logs are stored. */
  readonly dataDir: string
}

export const NODES_MAX = 9
/** The highest port that {@link portsOf} derives. */
const PORTS_ABOVE = 40

export const USAGE = `npm run cluster -- [--nodes 3] [--port 8080] [--data-dir .data/cluster]

Runs a whole cluster on this machine: PostgreSQL, NATS, the sandbox brokerage, nodes, and a TCP balancer in front of them.
  --nodes     nodes, 1 to ${NODES_MAX}; default 3
  --port      port of the balancer; default 8080. The others are above it, up to ${PORTS_ABOVE} higher
  --data-dir  where the database, keys and logs are stored; default .data/cluster

Commands on its standard input, to watch a failover:
  status      what runs, and what each node serves
  kill 2      ends node 2 at once (SIGKILL); it stays down until it is started
  pause 2     stops node 2 without its notice (SIGSTOP)
  stop 2      ends node 2 gracefully (SIGTERM); it stays down until it is started
  drain 2     moves the users of node 2 to the others, as \`npm run cli -- cluster drain\` does; it runs on without users
  start 2     starts node 2 again, or lets it continue
In place of a number, except of drain: database, nats or sandbox. Ctrl-C ends everything.
`

/** Null: the usage is requested. @throws Error that says what is wrong with the arguments. */
export function optionsOf(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: 'string', default: '3' },
      port: { type: 'string', default: '8080' },
      'data-dir': { type: 'string', default: '.data/cluster' },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  if (values.help) return null
  return {
    nodes: wholeNumber('--nodes', values.nodes, 1, NODES_MAX),
    port: wholeNumber('--port', values.port, 1, 65_535 - PORTS_ABOVE),
    dataDir: values['data-dir']
  }
}

function wholeNumber(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new Error(`${name} must be a whole number from ${min} to ${max}, was ${JSON.stringify(text.slice(0, 40))}`)
}

export interface Ports {
  readonly balancer: number
  readonly sandbox: number
  readonly sandboxControl: number
  readonly database: number
  readonly nats: number
  readonly nodes: readonly { readonly http: number; readonly between: number }[]
}

/** Node 1 is above the balancer, and the sandbox where it is by itself: 8081 and 8090 for 8080. */
export function portsOf({ port, nodes }: Pick<Options, 'port' | 'nodes'>): Ports {
  return {
    balancer: port,
    sandbox: port + 10,
    sandboxControl: port + 11,
    nodes: Array.from({ length: nodes }, (_, index) => ({ http: port + 1 + index, between: port + 21 + index })),
    database: port + 31,
    nats: port + 32
  }
}
