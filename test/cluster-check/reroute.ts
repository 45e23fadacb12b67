// Loaded into a node before its first line: its connections to some ports go to proxies. All nodes name the brokers and each other by the
// same addresses, as they must, and each has links of its own all the same.
import { Socket } from 'node:net'

const ROUTES: ReadonlyMap<number, number> = new Map(JSON.parse(process.env.CLUSTER_CHECK_ROUTES ?? '[]'))

interface Target {
  readonly port?: unknown
}

function rerouted(target: Target): Target {
  const port = ROUTES.get(Number(target.port))
  return port === undefined ? target : { ...target, port }
}

/** Node calls it with a port, with options, or with a list of both that it has read already. */
function routed(args: unknown[]): unknown[] {
  const [first] = args
  if (Array.isArray(first)) first[0] = rerouted(first[0])
  else if (typeof first === 'object' && first !== null) args[0] = rerouted(first)
  else args[0] = ROUTES.get(Number(first)) ?? first
  return args
}

Socket.prototype.connect = new Proxy(Socket.prototype.connect, {
  apply: (connect, socket, args) => Reflect.apply(connect, socket, routed(args))
})
