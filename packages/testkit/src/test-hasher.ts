import { createHmac, hash } from 'node:crypto'
import type { Hasher } from '@trunkline/core/ports/vault'

/** SHA-256 and an HMAC under a fixed key. */
export const TEST_HASHER: Hasher = {
  hash: secret => hash('sha256', secret, 'hex'),
  equal: (a, b) => a === b,
  derive: text => createHmac('sha256', 'test').update(text).digest()
}
