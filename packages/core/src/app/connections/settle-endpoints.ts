import type { BrokerEndpoint } from '../../domain/account.ts'
import type { BrokerId, ConnectionId } from '../../domain/ids.ts'
import type { AuditEntry, EndpointItem } from '../../ports/store.ts'
import { SealBroken } from '../../ports/vault.ts'
import type { Deps } from '../deps.ts'
import { withEndpoint } from './credentials.ts'
import { changedMessage, endpointOf, isSameEndpoint } from './endpoints.ts'

type SettleDeps = Pick<Deps, 'store' | 'brokers' | 'vault' | 'clock' | 'log'>

const BATCH = 200

/**
 * To be awaited before anything is served: connections that were made elsewhere than the service goes now are BROKEN for that, and those that
 * were BROKEN for that alone and belong here again are ACTIVE. Their credentials are as good as they were, since no broker has seen them; a
 * setting that was wrong for an hour must not cost every user a login. Logins of before endpoints were recorded are taken to belong here.
 */
export async function settleEndpoints(deps: SettleDeps): Promise<void> {
  for (const [broker, definition] of deps.brokers) {
    const present = endpointOf(definition)
    await recordMissing(deps, broker, present)
    const { connections } = deps.store
    for (const was of await connections.endpoints(broker)) {
      if (isSameEndpoint(was, present)) continue
      const audit = entryOf(deps, 'connection.suspend', broker, { was: shown(was), is: shown(present) })
      const count = await connections.suspend(broker, was, changedMessage(was, present), audit.at, audit)
      if (count > 0)
        deps.log.warn('connections are BROKEN: they were made in another environment of their broker than is set now', {
          broker,
          was: shown(was),
          is: shown(present),
          connections: count
        })
    }
    const audit = entryOf(deps, 'connection.resume', broker, { is: shown(present) })
    const count = await connections.resume(broker, present, audit.at, audit)
    if (count > 0)
      deps.log.info('connections are ACTIVE again: their environment is back', { broker, is: shown(present), connections: count })
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
      deps.log.info('logins of before environments were recorded are taken to belong to the one that is set now', {
        ...{ broker, place, is: shown(present) },
        logins: items.length
      })
    }
  }
}

/** Null when its seal does not open: then it can be sent nowhere, and its endpoint stays unknown. */
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
