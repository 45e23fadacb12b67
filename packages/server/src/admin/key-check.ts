import { SealBroken, SealKeyMissing } from '@trunkline/core/ports/vault'
import { EnvelopeVault, sealedKeyId } from '../vault/envelope.ts'
import { Sha256Hasher } from '../vault/hasher.ts'
import type { KeyRing } from '../vault/master-keys.ts'
import { AdminRefused } from './operations.ts'

/** Where the check value is stored. */
export interface KeyChecks {
  read(): Promise<Uint8Array | null>
  /** Stores the first one; another node may have been faster. */
  add(sealed: Uint8Array): Promise<void>
  /** Replaces `before`, unless another node has. */
  replace(before: Uint8Array, sealed: Uint8Array): Promise<void>
}

/** A seal that replaces an older one keeps its revision: it has the same content. */
const CONTEXT = { table: 'key_checks', column: 'sealed', rowId: '1', ownerId: 'all nodes', revision: 1 }
const NOT_THESE =
  'Every node needs the same keys in TRUNKLINE_MASTER_KEYS (or the same file master-keys in the data directory). Nothing was changed.'

/**
 * Why these master keys are not those of the nodes that have used the database; null: they are, or no node has stored a check yet. Reads
 * only.
 */
export async function whyKeysDiffer(checks: Pick<KeyChecks, 'read'>, ring: KeyRing): Promise<string | null> {
  const sealed = await checks.read()
  return sealed === null ? null : whyNotOpened(sealed, ring)
}

/**
 * Compares the master keys with those of the nodes that have used the database, before any of this node's secrets are stored with them.
 * The first node of a cluster (`isNode`) stores what the others compare with. Afterwards it is sealed with the current key.
 * @throws AdminRefused
 */
export async function assertSameKeys(checks: KeyChecks, ring: KeyRing, isNode: boolean): Promise<void> {
  if (isNode && (await checks.read()) === null) await checks.add(new EnvelopeVault(ring).seal(markOf(ring), CONTEXT))
  const why = await whyKeysDiffer(checks, ring)
  if (why !== null) throw new AdminRefused(why)
  await rewrapKeyCheck(checks, ring)
}

/** Seals the check with the current master key, so that older ones can be removed; does nothing if there is none, or it does not open. */
export async function rewrapKeyCheck(checks: KeyChecks, ring: KeyRing): Promise<void> {
  const sealed = await checks.read()
  if (sealed === null || whyNotOpened(sealed, ring) !== null) return
  const rewrapped = new EnvelopeVault(ring).rewrap(sealed, CONTEXT)
  if (rewrapped !== null) await checks.replace(sealed, rewrapped)
}

function whyNotOpened(sealed: Uint8Array, ring: KeyRing): string | null {
  try {
    const mark = new EnvelopeVault(ring).open(sealed, CONTEXT)
    if (mark === markOf(ring)) return null
    return `The instance key is not the one that the other nodes of this database use. It is derived from the last master key unless it is given as an item. ${NOT_THESE}`
  } catch (cause) {
    if (cause instanceof SealKeyMissing)
      return `The nodes of this database use master key ${JSON.stringify(sealedKeyId(sealed))}, which is missing here. ${NOT_THESE}`
    if (cause instanceof SealBroken) return `The master keys are not those that the other nodes of this database use. ${NOT_THESE}`
    throw cause
  }
}

/** Follows from the instance key and says nothing about it. */
function markOf(ring: KeyRing): string {
  return Buffer.from(new Sha256Hasher(ring.instanceKey()).derive('the check of the keys of nodes')).toString('hex')
}
