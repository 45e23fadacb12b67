// The keys that sign the messages of an endpoint, by Standard Webhooks 1.0.
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { webhookKeysContext } from '@trunkline/core/app/webhooks/keys-context'
import type { PlatformId, WebhookEndpointId } from '@trunkline/core/domain/ids'
import { parseJson } from '@trunkline/core/domain/json'
import { epochMs, parseTimestamp, type Timestamp, timestampOfMs } from '@trunkline/core/domain/timestamp'
import type { SealedValue } from '@trunkline/core/ports/login-store'
import { SealBroken, type Vault } from '@trunkline/core/ports/vault'

export interface WebhookKey {
  /** `whsec_` and base64 of 32 bytes: the receiver has it, too. */
  readonly secret: string
  /** `whsk_` and base64 of an Ed25519 key: its seed, then its public key. It is never shown. */
  readonly privateKey: string
}

/** The document that is sealed in the row of an endpoint. */
export interface WebhookKeys {
  readonly current: WebhookKey
  /** Newest first, at most {@link PREVIOUS_MAX}: each signs beside the current one until its end. */
  readonly previous: readonly (WebhookKey & { readonly until: Timestamp })[]
}

/** Beyond it a rotation drops the oldest: signatures have a header of bounded length. */
export const PREVIOUS_MAX = 3
/** How long replaced keys go on signing. Hours. */
export const OVERLAP_HOURS = { min: 0, usual: 24, max: 168 }

const SECRET_BYTES = 32
const SEED_BYTES = 32
const HOUR_MS = 3_600_000
const SECRET = /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/
const PRIVATE_KEY = /^whsk_[A-Za-z0-9+/]{86}==$/

export function newWebhookKeys(): WebhookKeys {
  return { current: newKey(), previous: [] }
}

/** New keys; those that were current sign until `overlapHours` from `at`. Without an overlap no older key signs any more. */
export function rotated(keys: WebhookKeys, at: Timestamp, overlapHours: number): WebhookKeys {
  if (overlapHours === 0) return newWebhookKeys()
  const until = timestampOfMs(epochMs(at) + overlapHours * HOUR_MS)
  const previous = [{ ...keys.current, until }, ...keys.previous].filter(key => key.until > at).slice(0, PREVIOUS_MAX)
  return { current: newKey(), previous }
}

/** `whpk_…` of a key: what it signs can be verified with it, and nothing can be signed. */
export function publicKeyOf({ privateKey }: WebhookKey): string {
  return `whpk_${pairOf(privateKey).subarray(SEED_BYTES).toString('base64')}`
}

/** The headers of Standard Webhooks for one attempt. `at` is when it is made. */
export function signedHeadersOf(
  signer: WebhookSigner,
  messageId: string,
  at: Timestamp,
  body: Uint8Array
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(epochMs(at) / 1_000))
  return { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': signer.sign(messageId, timestamp, body, at) }
}

/** Signs with all keys of an endpoint that are in force. It holds the keys ready for use. */
export class WebhookSigner {
  readonly #keys: readonly { readonly secret: Buffer; readonly privateKey: KeyObject; readonly until: Timestamp | null }[]

  constructor({ current, previous }: WebhookKeys) {
    this.#keys = [{ ...current, until: null }, ...previous].map(({ secret, privateKey, until }) => ({
      secret: Buffer.from(secret.slice('whsec_'.length), 'base64'),
      privateKey: keyObjectOf(privateKey),
      until
    }))
  }

  /** The value of `webhook-signature`: of each key `v1` and `v1a`, the current key first. */
  sign(messageId: string, timestamp: string, body: Uint8Array, now: Timestamp): string {
    const content = Buffer.concat([Buffer.from(`${messageId}.${timestamp}.`), body])
    return this.#keys
      .filter(({ until }) => until === null || until > now)
      .flatMap(({ secret, privateKey }) => [
        `v1,${createHmac('sha256', secret).update(content).digest('base64')}`,
        `v1a,${sign(null, content, privateKey).toString('base64')}`
      ])
      .join(' ')
  }
}

interface KeysRow {
  readonly endpointId: WebhookEndpointId
  readonly platformId: PlatformId
}

/** Seals the document for its row. `revision` is the one that the row will have. */
export function sealWebhookKeys(vault: Vault, row: KeysRow, keys: WebhookKeys, revision: number): SealedValue {
  return { sealed: vault.seal(JSON.stringify(keys), webhookKeysContext(row, revision)), revision }
}

/** @throws SealBroken if the seal does not belong to this row, or is not the newest */
export function openWebhookKeys(vault: Vault, row: KeysRow, { sealed, revision }: SealedValue): WebhookKeys {
  return parseKeys(vault.open(sealed, webhookKeysContext(row, revision)))
}

function parseKeys(text: string): WebhookKeys {
  const document = parseJson(text)
  const { current, previous } = fieldsOf(document)
  if (!Array.isArray(previous)) throw unreadable()
  return {
    current: parseKey(current),
    previous: previous.map(key => ({ ...parseKey(key), until: parseTimestamp(fieldsOf(key).until, 'until') }))
  }
}

function parseKey(value: unknown): WebhookKey {
  const { secret, privateKey } = fieldsOf(value)
  if (typeof secret !== 'string' || !SECRET.test(secret) || typeof privateKey !== 'string' || !PRIVATE_KEY.test(privateKey))
    throw unreadable()
  return { secret, privateKey }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw unreadable()
  return Object.fromEntries(Object.entries(value))
}

function unreadable(): SealBroken {
  return new SealBroken('the keys of a webhook endpoint are sealed, and are not the document that this version writes')
}

function newKey(): WebhookKey {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  return {
    secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`,
    privateKey: `whsk_${Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64')}`
  }
}

function pairOf(privateKey: string): Buffer {
  return Buffer.from(privateKey.slice('whsk_'.length), 'base64')
}

function keyObjectOf(privateKey: string): KeyObject {
  const pair = pairOf(privateKey)
  const d = pair.toString('base64url', 0, SEED_BYTES)
  const x = pair.toString('base64url', SEED_BYTES)
  return createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
}
