import { sealContext } from '@trunkline/core/app/broker-access/credentials'
import type { Log } from '@trunkline/core/ports/log'
import type { ConnectionStore, RewrapItem } from '@trunkline/core/ports/store'
import { SealBroken } from '@trunkline/core/ports/vault'
import { EnvelopeVault, sealedKeyId } from '../vault/envelope.ts'
import type { KeyRing } from '../vault/master-keys.ts'
import { AdminRefused } from './operations.ts'

const SAMPLE = 20

/**
 * Opens a sample of the stored credentials. A service with the wrong master keys must not start, because it would mark every connection as
 * broken. A damaged credential among others that open is only logged. @throws AdminRefused
 */
export async function assertKeysFit(connections: Pick<ConnectionStore, 'sealedUnderOtherKeys'>, ring: KeyRing, log: Log): Promise<void> {
  // Credentials under other keys than the current one come first. No key has an empty id, so the second query returns any credentials.
  const items = [
    ...(await connections.sealedUnderOtherKeys(ring.current().id, SAMPLE)),
    ...(await connections.sealedUnderOtherKeys('', SAMPLE))
  ]
  const vault = new EnvelopeVault(ring)
  let opened = 0
  for (const item of items) {
    const problem = problemWith(item, vault, ring)
    if (problem === null) opened += 1
    else log.error('a stored credential cannot be opened', { connectionId: item.connectionId, why: problem })
  }
  if (items.length > 0 && opened === 0)
    throw new AdminRefused(
      'The master keys do not open any of the stored broker credentials. They belong to another installation, or were replaced: restore the right keys (the file master-keys in the data directory, or TRUNKLINE_MASTER_KEYS). Nothing was changed.'
    )
}

/** @throws AdminRefused if its key is missing, which cannot be the result of damage. */
function problemWith(item: RewrapItem, vault: EnvelopeVault, ring: KeyRing): string | null {
  try {
    const keyId = sealedKeyId(item.credentials.sealed)
    if (ring.find(keyId) === undefined)
      throw new AdminRefused(
        `Stored broker credentials are sealed with master key ${JSON.stringify(keyId)}, which is missing. Restore it (the file master-keys in the data directory, or TRUNKLINE_MASTER_KEYS). Nothing was changed.`
      )
    vault.open(item.credentials.sealed, sealContext(item, item.credentials.revision))
    return null
  } catch (cause) {
    if (cause instanceof SealBroken) return cause.message
    throw cause
  }
}
