/** Nodes on a real nats-server, for tests of the bus between them. */
import { hash } from 'node:crypto'
import type { UserId } from '@trunkline/core/domain/ids'
import type { Log } from '@trunkline/core/ports/log'
import type { LoggedEvent } from '@trunkline/core/ports/store'
import { type BusHarness, type BusNode, listening, userId } from '@trunkline/testkit/bus-contract/index'
import { NatsServer } from '@trunkline/testkit/nats/index'
import { until } from '@trunkline/testkit/until'
import { NatsBus, type NatsBusDeps, type NatsBusOptions } from '../../src/bus/nats-bus.ts'
import { parseNatsServers } from '../../src/config/nats-servers.ts'
import { SystemClock } from '../../src/ops/clock.ts'
import { RandomIds } from '../../src/ops/ids.ts'
import { textFrame } from '../../src/stream/frame.ts'
import { updateBytes } from '../../src/wire/update.ts'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }
export const QUICK = { heartbeatMs: 100, stalledMs: 1_000, dialMs: 1_000, reconnect: { firstMs: 20, longestMs: 100 } }

export const encode = (event: LoggedEvent, of: UserId) => textFrame(updateBytes(event, of))
export const keyOf = (instance: string) => Buffer.from(hash('sha256', instance, 'hex'), 'hex')

export function natsBus(
  server: { readonly url: string },
  { instance = 'one', ...options }: Partial<NatsBusOptions> = {},
  deps: Partial<NatsBusDeps> = {}
): NatsBus {
  return new NatsBus(
    {
      ...{ servers: parseNatsServers(server.url), credentialsFile: null, caFile: null, name: 'test' },
      ...{ instance, key: keyOf(instance), limits: QUICK },
      ...options
    },
    { clock: new SystemClock(), ids: new RandomIds(), log: silent, encode, findUser: async key => ({ userId: userId(key) }), ...deps }
  )
}

export interface Started extends BusNode, AsyncDisposable {
  readonly bus: NatsBus
}

/** A node that has connected. */
export async function startNode(...args: Parameters<typeof natsBus>): Promise<Started> {
  const bus = natsBus(...args)
  const node = { ...listening(bus), bus, [Symbol.asyncDispose]: () => bus[Symbol.asyncDispose]() }
  bus.start()
  await until(() => bus.isConnected, 'the node was connected')
  await bus.confirmed()
  return node
}

/** What was published on any of the nodes has arrived on all: a server answers after everything that it was sent before. */
export async function settled(nodes: readonly Started[]): Promise<void> {
  for (const { bus } of nodes) await bus.confirmed()
  for (const { bus } of nodes) await bus.confirmed()
}

export async function threeNodes(): Promise<
  BusHarness & { readonly server: NatsServer; readonly nodes: readonly [Started, Started, Started] }
> {
  const server = await NatsServer.start()
  const nodes = [await startNode(server), await startNode(server), await startNode(server)] as const
  return {
    ...{ server, nodes, encode },
    settled: () => settled(nodes),
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    }
  }
}
