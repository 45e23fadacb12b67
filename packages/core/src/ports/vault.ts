/** What a sealed value belongs to. A seal opens only in the very place it was made for. */
export interface SealContext {
  readonly table: string
  readonly column: string
  readonly rowId: string
  readonly ownerId: string
  /** Counts up with every write, so that an older seal cannot be put back. */
  readonly revision: number
}

/** Keeps secrets at rest. Envelope encryption: a fresh data key per write, wrapped by a master key. */
export interface Vault {
  /** Bytes to store; they carry the master key's id. */
  seal(plaintext: string, context: SealContext): Uint8Array
  /** @throws SealBroken when the bytes, or their place, are not what was sealed. */
  open(sealed: Uint8Array, context: SealContext): string
  /** The same data key wrapped by the current master key; null when it already is. */
  rewrap(sealed: Uint8Array, context: SealContext): Uint8Array | null
  /** Id of the master key that new seals use. */
  readonly currentKeyId: string
}

/** A seal that does not open: altered, moved, or made with a key that is not here. Never says what was inside. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
}

/** Sealed with a master key that is not here: a fault of the installation, which ends when the key is put back. */
export class SealKeyMissing extends SealBroken {}

/** One-way: SHA-256 of a high-entropy secret, as lower-case hex. */
export interface Hasher {
  hash(secret: string): string
  /** Constant-time comparison of two hex hashes of any lengths. */
  equal(a: string, b: string): boolean
  /** HMAC under the instance's own key: ids that outsiders cannot predict and that never change. */
  derive(text: string): Uint8Array
}
