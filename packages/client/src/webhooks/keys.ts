import { WebhookError } from './errors.ts'
import type { Signature } from './headers.ts'

/** Bytes that WebCrypto accepts: not those of memory that is shared between threads. */
export type Bytes = Uint8Array<ArrayBuffer>

/** Whether a key made this signature of these bytes. */
export interface Verifier {
  readonly verify: (content: Bytes, signatures: readonly Signature[]) => Promise<boolean>
}

const KEYS_MAX = 8
/** What Standard Webhooks allows for a secret. */
const SECRET_BYTES = { min: 24, max: 64 }
const PUBLIC_KEY_BYTES = 32
const MAC_BYTES = 32
const ED25519_BYTES = 64
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** One for each key. @throws WebhookError setting_invalid: the key, which is not shown, cannot be used. */
export function verifiersOf(secrets: readonly string[], publicKeys: readonly string[]): readonly Verifier[] {
  const count = secrets.length + publicKeys.length
  if (count === 0) throw new WebhookError('setting_invalid', 'Give `secrets` or `publicKeys`: with neither, nothing can be verified.')
  if (count > KEYS_MAX) throw new WebhookError('setting_invalid', `There are more than ${KEYS_MAX} keys.`)
  return [...secrets.map(byHmac), ...publicKeys.map(byEd25519)]
}

function byHmac(secret: string): Verifier {
  const key = keyBytes(secret, 'whsec_')
  if (key === null || key.length < SECRET_BYTES.min || key.length > SECRET_BYTES.max)
    throw new WebhookError('setting_invalid', 'A secret is `whsec_` with the base64 of 24 to 64 bytes.')
  return {
    async verify(content, signatures) {
      const ours = signatures.filter(({ version }) => version === 'v1')
      if (ours.length === 0) return false
      const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
      const mac = new Uint8Array(await crypto.subtle.sign('HMAC', imported, content))
      return ours.some(({ base64 }) => isEqual(mac, bytesOf(base64)))
    }
  }
}

function byEd25519(publicKey: string): Verifier {
  const key = keyBytes(publicKey, 'whpk_')
  if (key?.length !== PUBLIC_KEY_BYTES) throw new WebhookError('setting_invalid', 'A public key is `whpk_` with the base64 of 32 bytes.')
  return {
    async verify(content, signatures) {
      const ours = signatures.filter(({ version }) => version === 'v1a').map(({ base64 }) => bytesOf(base64))
      if (ours.length === 0) return false
      const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']).catch(() => {
        throw new WebhookError('setting_invalid', 'The public key is not one of Ed25519, or this runtime does not have Ed25519.')
      })
      for (const signature of ours) {
        if (signature?.length === ED25519_BYTES && (await crypto.subtle.verify('Ed25519', imported, signature, content))) return true
      }
      return false
    }
  }
}

function keyBytes(text: string, prefix: string): Bytes | null {
  return text.startsWith(prefix) ? bytesOf(text.slice(prefix.length)) : null
}

function bytesOf(base64: string): Bytes | null {
  if (!BASE64.test(base64)) return null
  try {
    return Uint8Array.from(atob(base64), char => char.charCodeAt(0))
  } catch {
    return null
  }
}

/** Takes the same time wherever the two differ. */
function isEqual(mac: Bytes, other: Bytes | null): boolean {
  if (other?.length !== MAC_BYTES) return false
  return mac.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0
}
