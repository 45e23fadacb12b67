import { SealBroken, type SealContext, type Vault } from '@trunkline/core/ports/vault'

const KEY_ID = 'plain'

/** A vault that only encodes, and keeps the port's promise about contexts: a seal opens only in its own. */
export class PlainVault implements Vault {
  readonly currentKeyId = KEY_ID

  seal(plaintext: string, context: SealContext): Uint8Array {
    return new Uint8Array(Buffer.from(Buffer.from(JSON.stringify([placeOf(context), plaintext])).toString('base64url')))
  }

  open(sealed: Uint8Array, context: SealContext): string {
    const [place, plaintext] = partsOf(sealed)
    if (place !== placeOf(context) || typeof plaintext !== 'string') throw new SealBroken('the seal does not fit its context')
    return plaintext
  }

  rewrap(): null {
    return null
  }
}

function partsOf(sealed: Uint8Array): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(Buffer.from(sealed).toString(), 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch (cause) {
    throw new SealBroken('not a seal of a known format', { cause })
  }
}

function placeOf({ table, column, rowId, ownerId, revision }: SealContext): string {
  return JSON.stringify([table, column, rowId, ownerId, revision])
}
