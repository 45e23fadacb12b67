// The bus of this node: in its memory, or between nodes over NATS.
import { LocalBus } from '@trunkline/core/app/local-bus'
import type { Bus } from '@trunkline/core/ports/bus'
import type { Hasher } from '@trunkline/core/ports/vault'
import { parseNatsServers } from '../config/nats-servers.ts'
import type { Settings } from '../config/settings.ts'
import type { NatsBus, NatsBusDeps } from './nats-bus.ts'

export interface OpenBus {
  readonly bus: Bus
  /** Null: this node is alone. To be started once the listeners are there, and disposed of after what publishes. */
  readonly between: NatsBus | null
}

/** Opens the bus. The client of NATS is only loaded where there is NATS: it costs a start 40 ms. */
export async function openBus(
  { natsUrl, natsCredentials: credentialsFile, natsCa: caFile }: Pick<Settings, 'natsUrl' | 'natsCredentials' | 'natsCa'>,
  deps: NatsBusDeps & { readonly hasher: Pick<Hasher, 'derive'>; readonly name: string }
): Promise<OpenBus> {
  if (natsUrl === null) return { bus: new LocalBus(deps.log), between: null }
  const { NatsBus } = await import('./nats-bus.ts')
  const { instance, key } = identityOf(deps.hasher)
  const between = new NatsBus({ servers: parseNatsServers(natsUrl), credentialsFile, caFile, instance, key, name: deps.name }, deps)
  return { bus: between, between }
}

/** Follows from the instance key, which the nodes of one installation share, and no others have. */
export function identityOf(hasher: Pick<Hasher, 'derive'>): { readonly instance: string; readonly key: Uint8Array } {
  return { instance: Buffer.from(hasher.derive('bus subjects')).toString('hex', 0, 8), key: hasher.derive('bus messages') }
}
