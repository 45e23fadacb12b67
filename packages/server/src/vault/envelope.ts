import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { SealBroken, type SealContext, SealKeyMissing, type Vault } from '@trunkline/core/ports/vault'
import { KEY_BYTES, type KeyRing } from './master-keys.ts'

const FORMAT = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const BOX_OVERHEAD = IV_BYTES + TAG_BYTES
const KEY_ID = /^[A-Za-z0-9_-]{1,32}$/
const KEY_ID_BYTES_MAX = 32

/**
 * Envelope encryption with AES-256-GCM. Layout: format (1 byte), length of the key id (1 byte), key id, wrapped data key
 * (iv, tag, 32 bytes), content (iv, tag, ciphertext). Both boxes authenticate their context as associated data.
 */
export class EnvelopeVault implements Vault {
  readonly #ring: KeyRing

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  get currentKeyId(): string {
    return this.#ring.current().id
  }

  seal(plaintext: string, context: SealContext): Uint8Array {
    const aad = associatedData(context)
    const dataKey = randomBytes(KEY_BYTES)
    try {
      return this.#assemble(dataKey, encrypt(dataKey, Buffer.from(plaintext, 'utf8'), aad), aad)
    } finally {
      dataKey.fill(0)
    }
  }

  open(sealed: Uint8Array, context: SealContext): string {
    const { dataKey, content } = this.#unwrap(sealed, context)
    try {
      return decrypt(dataKey, content, associatedData(context)).toString('utf8')
    } finally {
      dataKey.fill(0)
    }
  }

  rewrap(sealed: Uint8Array, context: SealContext): Uint8Array | null {
    if (sealedKeyId(sealed) === this.currentKeyId) return null
    const { dataKey, content } = this.#unwrap(sealed, context)
    try {
      // Also checks the content, so that a rotation never wraps a broken seal with a new key.
      decrypt(dataKey, content, associatedData(context)).fill(0)
      return this.#assemble(dataKey, content, associatedData(context))
    } finally {
      dataKey.fill(0)
    }
  }

  #assemble(dataKey: Uint8Array, content: Uint8Array, aad: string): Uint8Array {
    const { id, key } = this.#ring.current()
    const idBytes = Buffer.from(id, 'utf8')
    return Buffer.concat([Buffer.from([FORMAT, idBytes.length]), idBytes, encrypt(key, dataKey, `${aad}|${id}`), content])
  }

  #unwrap(sealed: Uint8Array, context: SealContext): { readonly dataKey: Buffer; readonly content: Uint8Array } {
    const keyId = sealedKeyId(sealed)
    const master = this.#ring.find(keyId)
    if (master === undefined)
      throw new SealKeyMissing(`sealed with master key ${JSON.stringify(keyId)}, which is not among the master keys here`)
    const start = 2 + Buffer.byteLength(keyId)
    const end = start + BOX_OVERHEAD + KEY_BYTES
    const dataKey = decrypt(master.key, sealed.subarray(start, end), `${associatedData(context)}|${keyId}`)
    return { dataKey, content: sealed.subarray(end) }
  }
}

/** The id of a seal's master key. @throws SealBroken if it is no seal. */
export function sealedKeyId(sealed: Uint8Array): string {
  const length = sealed[1] ?? 0
  if (sealed[0] === FORMAT && length <= KEY_ID_BYTES_MAX && sealed.length >= 2 + length + 2 * BOX_OVERHEAD + KEY_BYTES) {
    const id = Buffer.from(sealed.subarray(2, 2 + length)).toString('latin1')
    if (KEY_ID.test(id)) return id
  }
  throw new SealBroken('not a seal of a known format')
}

/** The parts are joined unambiguously: JSON quotes what could imitate a separator. */
function associatedData({ table, column, rowId, ownerId, revision }: SealContext): string {
  return JSON.stringify([FORMAT, table, column, rowId, ownerId, revision])
}

function encrypt(key: Uint8Array, plaintext: Uint8Array, aad: string): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(aad))
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext])
}

function decrypt(key: Uint8Array, box: Uint8Array, aad: string): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(aad)).setAuthTag(box.subarray(IV_BYTES, BOX_OVERHEAD))
    // update() returns bytes before they are verified: nothing is returned before final() succeeds.
    return Buffer.concat([decipher.update(box.subarray(BOX_OVERHEAD)), decipher.final()])
  } catch (cause) {
    throw new SealBroken('the seal does not fit its context: altered, moved, or an older revision', { cause })
  }
}
