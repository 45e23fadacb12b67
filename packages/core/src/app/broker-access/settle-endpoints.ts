import type { BrokerEndpoint } from '../../domain/account.ts'
import type { BrokerId, ConnectionId } from '../../domain/ids.ts'
import type { AuditEntry, EndpointItem } from '../../ports/store.ts'
import { SealBroken } from '../../ports/vault.ts'
import type { Deps } from '../deps.ts'
import { withEndpoint } from './credentials.ts'
import { changedMessage, endpointOf, isSameEndpoint } from './endpoints.ts'

type SettleDeps = Pick<Deps, 'store' | 'brokers' | 'vault' | 'clock' | 'log'>

const BATCH = 200

/** Other nodes use these connections, at the endpoint where they were made. */
export class EndpointsInUse extends Error {
  override readonly name = 'EndpointsInUse'
}

/**
 * Must be awaited before requests are served. Makes connections BROKEN whose endpoint is not the present one, and ACTIVE again if that was
 * their only fault and their endpoint is back. Their credentials were sent nowhere and stay valid: an hour of wrong configuration must not
 * cost every user a login. Logins without a recorded endpoint are taken to belong to the present one.
 * @param nodes the names of the nodes that run already: one node with other settings must not take the connections from all of them
 * @throws EndpointsInUse before anything is changed
 */
export async function settleEndpoints(deps: SettleDeps, nodes: readonly string[] = []): Promise<void> {
  if (nodes.length > 0) await assertUnused(deps, nodes)
  for (const [broker, definition] of deps.brokers) {
    const present = endpointOf(definition)
    await recordMissing(deps, broker, present)
    const { connections } = deps.store
    for (const was of await connections.endpoints(broker)) {
      if (isSameEndpoint(was, present)) continue
      const audit = entryOf(deps, 'connection.suspend', broker, { was: shown(was), is: shown(present) })
      const count = await connections.suspend(broker, was, changedMessage(was, present), audit.at, audit)
      if (count > 0)
        deps.log.warn('connections are BROKEN: they were made in another environment of their broker than the configured one', {
          broker,
          was: shown(was),
          is: shown(present),
          connections: count
        })
    }
    const audit = entryOf(deps, 'connection.resume', broker, { is: shown(present) })
    const count = await connections.resume(broker, present, audit.at, audit)
    if (count > 0)
      deps.log.info('connections are ACTIVE again: their environment is configured again', {
        broker,
        is: shown(present),
        connections: count
      })
  }
}

async function assertUnused({ brokers, store }: SettleDeps, nodes: readonly string[]): Promise<void> {
  for (const [broker, definition] of brokers) {
    const present = endpointOf(definition)
    const other = (await store.connections.endpoints(broker)).find(was => !isSameEndpoint(was, present))
    if (other === undefined) continue
    throw new EndpointsInUse(
      `${broker} is set to ${shown(present)} here, and has connections made at ${shown(other)}. Starting would break these, and nodes run that may use them: ${nodes.join('; ')}. Give every node the same settings of brokers; to change them, stop all nodes first. Nothing was changed.`
    )
  }
}

async function recordMissing(deps: SettleDeps, broker: BrokerId, present: BrokerEndpoint): Promise<void> {
  for (const place of ['connection', 'revocation'] as const) {
    let after: ConnectionId | null = null
    for (;;) {
      const found: readonly EndpointItem['item'][] = await deps.store.connections.withoutEndpoint(place, broker, after, BATCH)
      after = found.at(-1)?.connectionId ?? null
      if (after === null) break
      const items = found.flatMap(item => resealed(deps, item, present) ?? [])
      if (items.length === 0) continue
      const audit = entryOf(deps, 'connection.record_endpoint', broker, { is: shown(present), place, logins: items.length })
      await deps.store.connections.recordEndpoint(items, present, audit)
      deps.log.info('logins without a recorded environment are taken to belong to the configured one', {
        ...{ broker, place, is: shown(present) },
        logins: items.length
      })
    }
  }
}

/** Null if the seal does not open: such credentials cannot be sent anywhere, and their endpoint stays unknown. */
function resealed({ vault, log }: SettleDeps, item: EndpointItem['item'], endpoint: BrokerEndpoint): EndpointItem | null {
  try {
    return { item, sealed: withEndpoint(vault, item, item.credentials, endpoint)?.sealed ?? null }
  } catch (cause) {
    if (!(cause instanceof SealBroken)) throw cause
    log.error('a stored credential cannot be opened', { connectionId: item.connectionId, cause })
    return null
  }
}

function entryOf({ clock }: SettleDeps, action: string, target: BrokerId, detail: AuditEntry['detail']): AuditEntry {
  return { at: clock.now(), actor: 'service', action, target, result: 'ok', ip: null, requestId: null, detail }
}

function shown({ environment, host }: BrokerEndpoint): string {
  return `${environment} ${host}`
}
