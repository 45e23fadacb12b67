import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { verifyWebhook, WebhookError } from '@trunkline/client/webhooks'
import { type PlatformId, parseUuid, type WebhookEndpointId } from '@trunkline/core/domain/ids'
import { epochMs, parseTimestamp } from '@trunkline/core/domain/timestamp'
import { SealBroken } from '@trunkline/core/ports/vault'
import { EnvelopeVault } from '../../src/vault/envelope.ts'
import {
  newWebhookKeys,
  openWebhookKeys,
  PREVIOUS_MAX,
  publicKeyOf,
  rotated,
  sealWebhookKeys,
  signedHeadersOf,
  WebhookSigner
} from '../../src/webhooks/signing-keys.ts'

const AT = parseTimestamp('2026-01-05T15:00:00Z', 'at')
const HOUR_LATER = parseTimestamp('2026-01-05T16:00:00Z', 'at')
const DAY_LATER = parseTimestamp('2026-01-06T15:00:00Z', 'at')
const BODY = new TextEncoder().encode('{"type":"events","data":[]}')
const ROW = {
  endpointId: parseUuid<WebhookEndpointId>('00000000-0000-7000-8000-000000000001', 'id'),
  platformId: parseUuid<PlatformId>('00000000-0000-7000-8000-000000000002', 'id')
}

/** Published with the libraries of Standard Webhooks: one message, and its signatures by a secret and by a private key. */
const EXAMPLE = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: new TextEncoder().encode('{"test": 2432232314}'),
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  v1: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  seed: 'VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=',
  v1a: 'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=='
}

async function verified(headers: Readonly<Record<string, string>>, by: { secrets?: string[]; publicKeys?: string[] }, body = BODY) {
  return await verifyWebhook({ ...by, headers, body, now: () => epochMs(AT) })
}

test('the published example is signed as it was published, by both', () => {
  const seed = Buffer.from(EXAMPLE.seed, 'base64')
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const published = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })).export({ format: 'der', type: 'spki' })
  const privateKey = `whsk_${Buffer.concat([seed, published.subarray(-32)]).toString('base64')}`
  const signer = new WebhookSigner({ current: { secret: EXAMPLE.secret, privateKey }, previous: [] })
  assert.equal(signer.sign(EXAMPLE.id, EXAMPLE.timestamp, EXAMPLE.body, AT), `${EXAMPLE.v1} ${EXAMPLE.v1a}`)
})

test('the client verifies each of both signatures, and refuses another body', async () => {
  const keys = newWebhookKeys()
  const headers = signedHeadersOf(new WebhookSigner(keys), 'msg_1', AT, BODY)
  assert.equal((await verified(headers, { secrets: [keys.current.secret] })).id, 'msg_1')
  assert.equal((await verified(headers, { publicKeys: [publicKeyOf(keys.current)] })).type, 'events')
  const other = newWebhookKeys()
  await assert.rejects(verified(headers, { secrets: [other.current.secret] }), WebhookError)
  await assert.rejects(verified(headers, { publicKeys: [publicKeyOf(other.current)] }), WebhookError)
  await assert.rejects(verified(headers, { secrets: [keys.current.secret] }, new TextEncoder().encode('{"type":"events","data":[{}]}')))
})

test('after a rotation the old and the new keys sign until the end of the old ones', async () => {
  const old = newWebhookKeys()
  const keys = rotated(old, AT, 24)
  const during = new WebhookSigner(keys).sign('msg_1', '1767625200', BODY, HOUR_LATER)
  assert.equal(during.split(' ').length, 4)
  assert.equal(new WebhookSigner(keys).sign('msg_1', '1767625200', BODY, DAY_LATER).split(' ').length, 2)
  const headers = signedHeadersOf(new WebhookSigner(keys), 'msg_1', AT, BODY)
  for (const { current } of [old, keys]) {
    await verified(headers, { secrets: [current.secret] })
    await verified(headers, { publicKeys: [publicKeyOf(current)] })
  }
  assert.equal(rotated(old, AT, 0).previous.length, 0)
})

test('rotations in a row keep a bounded number of old keys, which fit the header', async () => {
  let keys = newWebhookKeys()
  for (let count = 0; count < 10; count++) keys = rotated(keys, AT, 168)
  assert.equal(keys.previous.length, PREVIOUS_MAX)
  await verified(signedHeadersOf(new WebhookSigner(keys), 'msg_1', AT, BODY), { secrets: [keys.current.secret] })
})

test('the document opens in its own row and revision only', () => {
  const vault = new EnvelopeVault(ringOf())
  const keys = rotated(newWebhookKeys(), AT, 24)
  const sealed = sealWebhookKeys(vault, ROW, keys, 3)
  assert.deepEqual(openWebhookKeys(vault, ROW, sealed), keys)
  assert.equal(Buffer.from(sealed.sealed).includes(keys.current.secret.slice(6)), false)
  const elsewhere = { ...ROW, endpointId: parseUuid<WebhookEndpointId>('00000000-0000-7000-8000-000000000003', 'id') }
  assert.throws(() => openWebhookKeys(vault, elsewhere, sealed), SealBroken)
  assert.throws(() => openWebhookKeys(vault, ROW, { ...sealed, revision: 2 }), SealBroken)
})

function ringOf() {
  const key = { id: 'k1', key: new Uint8Array(32).fill(7) }
  return { current: () => key, find: (id: string) => (id === key.id ? key : undefined), ids: () => [key.id], instanceKey: () => key.key }
}
