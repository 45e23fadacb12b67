// Webhooks: what Standard Webhooks publishes to test with is accepted, and whatever else arrives is refused with a stated code.
import assert from 'node:assert/strict'
import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import { type VerifyWebhookOptions, verifyWebhook, WebhookError } from '../../src/webhooks/index.ts'

/** Published with the libraries of Standard Webhooks: one message, and its signature by a secret and by a private key. */
const PUBLISHED = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  timestamp: '1614265330',
  body: '{"test": 2432232314}',
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  mac: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  privateSeed: 'VEVTVFNJR05JTkdLRVlET05PVFVTRVRISVNGT1JBTlk=',
  signature: 'v1a,tQ9V2XOqn7jL/DQenEFpqIugdBVtiMmER5mhSkXBNwM0mkATuDe6KYYUuxqtaiHeYGb7KaaBRdM5WqyeFiL8Ag=='
}
const PKCS8_OF_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')
const PRIVATE_KEY = createPrivateKey({
  key: Buffer.concat([PKCS8_OF_ED25519, Buffer.from(PUBLISHED.privateSeed, 'base64')]),
  format: 'der',
  type: 'pkcs8'
})
const PUBLIC_KEY = `whpk_${createPublicKey(PRIVATE_KEY).export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')}`

const ID = 'msg_1'
const AT = 1_764_000_000
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OLD_SECRET = `whsec_${Buffer.alloc(24, 8).toString('base64')}`
const EVENTS = [
  { type: 'orders', seq: 1, event_id: 'e1', user_id: 'ada', data: {} },
  { type: 'dividends', seq: 2, note: 'ünknown' }
]
const BODY = JSON.stringify({ type: 'events', data: EVENTS })

const keyOf = (secret: string) => Buffer.from(secret.replace('whsec_', ''), 'base64')
const macOf = (text: string, secret = SECRET) => `v1,${createHmac('sha256', keyOf(secret)).update(text).digest('base64')}`
const signedBy = (text: string) => `v1a,${sign(null, Buffer.from(text), PRIVATE_KEY).toString('base64')}`

/** A genuine webhook, of which a test changes something. */
function webhook(
  changed: Partial<VerifyWebhookOptions> = {},
  headers: Readonly<Record<string, string | readonly string[] | undefined>> = {}
) {
  const genuine = { 'webhook-id': ID, 'webhook-timestamp': `${AT}`, 'webhook-signature': macOf(`${ID}.${AT}.${BODY}`) }
  return verifyWebhook({ secrets: [SECRET], body: BODY, now: () => AT * 1_000, headers: { ...genuine, ...headers }, ...changed })
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.catch(cause => cause)
  assert.ok(error instanceof WebhookError, `accepted, or another error: ${error}`)
  return error.code
}

for (const [how, signature, keys] of [
  ['by HMAC', PUBLISHED.mac, { secrets: [PUBLISHED.secret] }],
  ['by Ed25519', PUBLISHED.signature, { publicKeys: [PUBLIC_KEY] }]
] as const) {
  test(`the published message is genuine ${how}; only its body is not ours`, async () => {
    const { id, timestamp, body } = PUBLISHED
    const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
    const at = { now: () => Number(timestamp) * 1_000, ...keys }
    assert.equal(await codeOf(verifyWebhook({ ...at, headers, body })), 'webhook_malformed')
    assert.equal(await codeOf(verifyWebhook({ ...at, headers, body: `${body} ` })), 'webhook_signature_invalid')
  })
}

test('a webhook gives its events as they were sent, also of types that are not known', async () => {
  assert.deepEqual(await webhook(), { id: ID, sentAt: new Date(AT * 1_000), type: 'events', data: EVENTS })
})

describe('headers and bodies come in many forms', () => {
  const signature = macOf(`${ID}.${AT}.${BODY}`)
  const plain = { 'webhook-id': ID, 'webhook-timestamp': `${AT}`, 'webhook-signature': signature }
  const upper = { 'WEBHOOK-ID': ID, 'Webhook-Timestamp': [`${AT}`], 'Webhook-Signature': signature, host: undefined }
  for (const [form, headers] of [
    ['Headers', new Headers(plain)],
    ['a record', plain],
    ['a record in upper case', upper]
  ] as const) {
    test(`headers as ${form}`, async () => {
      for (const body of [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY).buffer]) {
        assert.equal((await verifyWebhook({ secrets: [SECRET], now: () => AT * 1_000, headers, body })).id, ID)
      }
    })
  }
})

test('while a secret or a key is replaced, one signature of several and one key of several are enough', async () => {
  const text = `${ID}.${AT}.${BODY}`
  const several = { 'webhook-signature': `v2,abcd ${macOf(text, OLD_SECRET)} ${signedBy(text)}` }
  for (const keys of [{ secrets: [SECRET, OLD_SECRET] }, { secrets: [SECRET], publicKeys: [PUBLIC_KEY] }]) {
    assert.equal((await webhook(keys, several)).id, ID)
  }
  assert.equal(await codeOf(webhook({}, several)), 'webhook_signature_invalid')
})

test('what is signed may not be moved, and is refused by its time even if it is genuine', async () => {
  const moved = { 'webhook-timestamp': `${AT + 1}` }
  assert.equal(await codeOf(webhook({}, moved)), 'webhook_signature_invalid')
  assert.equal(await codeOf(webhook({}, { 'webhook-id': 'msg_2' })), 'webhook_signature_invalid')
  assert.equal(await codeOf(webhook({ body: BODY.slice(0, -1) })), 'webhook_signature_invalid')
  assert.equal(await codeOf(webhook({ secrets: [OLD_SECRET] })), 'webhook_signature_invalid')
  for (const [seconds, code] of [
    [300, null],
    [301, 'webhook_too_old'],
    [-300, null],
    [-301, 'webhook_too_new'],
    [Number.NaN, 'webhook_too_old']
  ] as const) {
    const attempt = webhook({ now: () => (AT + seconds) * 1_000 })
    assert.equal(code === null ? (await attempt).id : await codeOf(attempt), code ?? ID)
  }
})

test('the parts of a signed text cannot be divided in another way', async () => {
  const body = `1.${BODY}`
  const signature = macOf(`${ID}.${AT}.${body}`)
  const divided = { 'webhook-id': `${ID}.${AT}`, 'webhook-timestamp': '1', 'webhook-signature': signature }
  assert.equal(await codeOf(webhook({ now: () => 1_000 }, divided)), 'webhook_malformed')
})

test('a signature of another length or form is none', async () => {
  const [, mac = ''] = macOf(`${ID}.${AT}.${BODY}`).split(',')
  const [, signature = ''] = signedBy(`${ID}.${AT}.${BODY}`).split(',')
  const shorter = Buffer.from(mac, 'base64').subarray(0, 31).toString('base64')
  const keys = { secrets: [SECRET], publicKeys: [PUBLIC_KEY] }
  for (const given of [`v1,${shorter}`, `v1a,${mac}`, `v1,${signature}`, 'v1,A', `v2,${mac}`]) {
    assert.equal(await codeOf(webhook(keys, { 'webhook-signature': given })), 'webhook_signature_invalid', given)
  }
  for (const given of ['', 'v1', 'v1,', mac, `v1,${mac} `, `v1, ${mac}`, `V1,${mac}`, `v1,${mac}\n`]) {
    assert.equal(await codeOf(webhook(keys, { 'webhook-signature': given })), 'webhook_malformed', given)
  }
})

test('a header that is missing, comes twice, is too long or is no id, time or signature is malformed', async () => {
  const signature = macOf(`${ID}.${AT}.${BODY}`)
  for (const headers of [
    { 'webhook-id': undefined },
    { 'webhook-timestamp': [] },
    { 'webhook-signature': undefined },
    { 'webhook-id': [ID, ID] },
    { 'Webhook-Id': ID },
    { 'webhook-timestamp': `${AT}, ${AT}` },
    { 'webhook-signature': `${signature}, ${signature}` },
    { 'webhook-id': 'x'.repeat(257) },
    { 'webhook-timestamp': '1.7e9' },
    { 'webhook-timestamp': `-${AT}` },
    { 'webhook-timestamp': '9'.repeat(12) },
    { 'webhook-signature': `v1,${'A'.repeat(4_100)}` },
    { 'webhook-signature': Array(17).fill(signature).join(' ') }
  ]) {
    assert.equal(await codeOf(webhook({}, headers)), 'webhook_malformed', JSON.stringify(headers).slice(0, 80))
  }
  const twice = new Headers({ 'webhook-id': ID, 'webhook-timestamp': `${AT}`, 'webhook-signature': signature })
  twice.append('webhook-id', 'msg_2')
  assert.equal(await codeOf(webhook({ headers: twice })), 'webhook_malformed')
})

test('a body that is too long is refused before anything is computed', async () => {
  assert.equal(await codeOf(webhook({ body: 'x'.repeat(8_388_609) })), 'webhook_too_large')
  assert.equal(await codeOf(webhook({ body: 'ü'.repeat(4_194_305) })), 'webhook_too_large')
  assert.equal(await codeOf(webhook({ body: Buffer.from(BODY), bodyBytesMax: BODY.length })), 'webhook_too_large')
})

test('a genuine body that is not a list of events is malformed', async () => {
  for (const body of [
    '',
    'null',
    '[]',
    '{"type":"events"}',
    '{"type":1,"data":[]}',
    '{"type":"events","data":[{}]}',
    '{"type":"events","data":[1]}'
  ]) {
    assert.equal(await codeOf(webhook({ body }, { 'webhook-signature': macOf(`${ID}.${AT}.${body}`) })), 'webhook_malformed', body)
  }
})

test('an event that is as large as an event can be is taken, and so is one that stands for missing ones', async () => {
  const position = { symbol: 'AAPL261218C00200000', quantity: '1', system_time: '2026-11-20T14:30:00.184321Z', filler: 'x'.repeat(400) }
  const erased = { type: 'events_erased', user_id: 'ada', from_seq: 3, to_seq: 9 }
  const body = JSON.stringify({ type: 'events', data: [erased, { type: 'positions', data: Array(10_000).fill(position) }] })
  assert.ok(body.length > 5_000_000)
  const { data } = await webhook({ body }, { 'webhook-signature': macOf(`${ID}.${AT}.${body}`) })
  const [first] = data
  assert.ok(first?.type === 'events_erased')
  assert.deepEqual([first.from_seq, first.to_seq], [3, 9])
})

test('a key that is none, or one of the other kind, is an error of the caller and is not shown', async () => {
  const short = `whsec_${Buffer.alloc(23, 1).toString('base64')}`
  const long = `whsec_${Buffer.alloc(65, 1).toString('base64')}`
  for (const keys of [
    { secrets: [] },
    { secrets: [short] },
    { secrets: [long] },
    { secrets: [SECRET.replace('whsec_', '')] },
    { secrets: [PUBLIC_KEY] },
    { secrets: ['whsec_ä'] },
    { secrets: Array(9).fill(SECRET) },
    { secrets: [], publicKeys: [SECRET] },
    { secrets: [], publicKeys: [PUBLIC_KEY.replace('whpk_', 'whsk_')] },
    { secrets: [], publicKeys: [PUBLIC_KEY.slice(0, -8)] },
    { toleranceSeconds: Number.NaN }
  ]) {
    const error: unknown = await webhook(keys).catch(cause => cause)
    assert.ok(error instanceof WebhookError && error.code === 'setting_invalid', JSON.stringify(keys))
    for (const key of [...(keys.secrets ?? []), ...(keys.publicKeys ?? [])]) assert.ok(!error.message.includes(key.slice(6)), error.message)
  }
})

test('a body that a framework has parsed already is an error of the caller', async () => {
  const parsed = Object(JSON.parse(BODY))
  assert.equal(await codeOf(webhook({ body: parsed })), 'setting_invalid')
})
