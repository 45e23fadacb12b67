// Which client order id an order has at the sandbox: it follows from the order's id and the instance's key, so a test that gave the key
// knows it.
import { randomBytes } from 'node:crypto'
import { SANDBOX_CAPABILITIES } from '@trunkline/brokers/sandbox/definition'
import { brokerClOrdIdOf } from '@trunkline/core/app/orders/new-order'
import type { OrderId } from '@trunkline/core/domain/ids'
import { Sha256Hasher } from '../../src/vault/hasher.ts'
import { FixedKeyRing, parseKeySet } from '../../src/vault/master-keys.ts'

export interface KnownKeys {
  /** For the service's environment. */
  readonly env: { readonly TRUNKLINE_MASTER_KEYS: string }
  readonly nameOf: (orderId: string) => string
}

export function knownKeys(): KnownKeys {
  const text = `known:${randomBytes(32).toString('base64')}`
  const hasher = new Sha256Hasher(new FixedKeyRing(parseKeySet(text)).instanceKey())
  const known = new Map<string, string>()
  const nameOf = (orderId: string) => {
    const name = known.get(orderId) ?? brokerClOrdIdOf(hasher, orderId as OrderId, SANDBOX_CAPABILITIES.brokerClOrdId)
    known.set(orderId, name)
    return name
  }
  return { env: { TRUNKLINE_MASTER_KEYS: text }, nameOf }
}
