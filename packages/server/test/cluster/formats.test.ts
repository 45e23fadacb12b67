// What nodes send each other, as it was recorded: while an upgrade replaces one node after the other, those of the version before read what
// this one writes, and write what this one reads. A difference here is one between versions; decisions 34 and 35 say how it is made.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { type NodeId, parseUuid } from '@trunkline/core/domain/ids'
import { ALL_PARTITIONS, partitionOf } from '@trunkline/core/domain/partition'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { MESSAGES, userKey } from '@trunkline/testkit/bus-contract/index'
import { Envelope } from '../../src/bus/envelope.ts'
import { identityOf } from '../../src/bus/index.ts'
import { decodeMessage, encodeMessage, isForNodes } from '../../src/bus/message-codec.ts'
import { decodeUpdates, encodeUpdates } from '../../src/bus/update-codec.ts'
import { DIRECT_MESSAGE_PATH } from '../../src/cluster/direct-messages.ts'
import { FOLLOWED_PATH, followedMessage, HEALTH_PATH, readAnswer, readFollowed, readQuestion } from '../../src/cluster/following/index.ts'
import { LINK_PATH, LINK_PROTOCOLS } from '../../src/cluster/forward/link-opening.ts'
import { MARKET_PATH } from '../../src/cluster/forward/owner-market-sessions.ts'
import { encodeAnswer, encodeRequest } from '../../src/cluster/forward/passed-codec.ts'
import { linkKeys, Sealer } from '../../src/cluster/forward/sealed-records.ts'
import { SIGNATURE, Signer, signatureKey, Verifier } from '../../src/cluster/forward/signature.ts'
import { division } from '../../src/cluster/members/rendezvous.ts'
import { BETWEEN_NODES } from '../../src/http/passed-on.ts'
import { CHANGES_PATH, readOwnersRefusal, readPassedChange } from '../../src/operators/nodes/changes.ts'
import { OPERATORS_PATH, READ_ANSWER, readQuestion as readOperatorQuestion } from '../../src/operators/nodes/messages.ts'
import { Sha256Hasher } from '../../src/vault/hasher.ts'

const HASHER = new Sha256Hasher(Buffer.alloc(32, 7))
const nodeId = (number: number) => parseUuid<NodeId>(`0192f0c1-7a3e-7b52-9c1d-00000000000${number}`, 'node')

const USER = '"userKey":"0190a0b0-c0d0-7000-8000-000000000001"'
const CONNECTION = `${USER},"connectionId":"0190a0b0-c0d0-7000-8000-0000000000c0"`
const HASH = 'ab'.repeat(32)
const PLATFORM = '0190a0b0-c0d0-7000-8000-0000000000a0'
/** Each kind that was ever sent. Nodes of the version before need these fields, and send no others but a number. */
const RECORDED: readonly string[] = [
  `{"type":"user_removed",${USER}}`,
  `{"type":"user_secret_changed",${USER}}`,
  `{"type":"connection_changed",${CONNECTION}}`,
  `{"type":"connection_renewed",${CONNECTION},"wasBroken":true}`,
  `{"type":"connection_removed",${CONNECTION}}`,
  `{"type":"connection_health",${CONNECTION},"health":{"state":"stale","since":"2026-01-05T15:00:00.123456Z","reason":"the broker’s stream is down"}}`,
  `{"type":"connection_health",${CONNECTION},"health":{"state":"live","since":"2026-01-05T15:00:00.000000Z","reason":null}}`,
  `{"type":"secret_issued","of":"key","name":"pk_1","secretHash":"${HASH}"}`,
  `{"type":"platform_secret_changed","platformId":"${PLATFORM}"}`,
  `{"type":"platform_access_ended","platformId":"${PLATFORM}","keyId":null}`,
  `{"type":"platform_access_ended","platformId":"${PLATFORM}","keyId":"0190a0b0-c0d0-7000-8000-0000000000e0"}`,
  `{"type":"user_disabled",${USER}}`,
  `{"type":"market_token_used",${USER},"tokenHash":"${HASH}","address":"2001:db8::1"}`
]

const QUESTION = `{"nodeId":"${nodeId(1)}","after":7,"users":["${userKey(1)}"]}`
const REQUESTS = '{"kind":"requests","filter":{"isFailed":true,"code":null,"requestId":null,"platformId":null,"userKey":null},"limit":7}'
const KEPT =
  '{"requests":[{"at":"2026-01-05T15:00:00Z","requestId":"r-1","method":"GET","route":"/orders","status":401,"code":null,"milliseconds":1.5,"platformId":null,"userKey":null,"address":"192.0.2.1"}]}'
const CHANGES = [
  `{"operator":"ada@host",${USER},"change":{"kind":"end_never_received","orderId":"0190a0b0-c0d0-7000-8000-0000000000d0","because":"seen","isUnseen":false}}`,
  `{"operator":"ada@host",${USER},"change":{"kind":"read_again","connectionId":"0190a0b0-c0d0-7000-8000-0000000000c0"}}`
]
const REFUSAL = '{"code":"order_not_settled","message":"The outcome is known.","retryAfterSeconds":null}'
const ANSWER = `{"until":9,"isCut":false,"known":[{${CONNECTION},"health":{"state":"live","since":"2026-01-05T15:00:00.000000Z","reason":null}}]}`

test('the messages of the version before are read, and what is sent has all that it needs', () => {
  const sent = MESSAGES.filter(isForNodes).map(message => JSON.parse(Buffer.from(encodeMessage(message, 7) ?? '').toString('utf8')))
  for (const text of RECORDED) {
    const recorded: BusMessage = JSON.parse(text)
    assert.deepEqual(decodeMessage(Buffer.from(text)), recorded)
    assert.ok(
      sent.some(message => includes(message, { ...recorded, number: 7 })),
      text
    )
  }
  const followed = { node_id: nodeId(1), users: [userKey(1)] }
  assert.partialDeepStrictEqual(followedMessage({ nodeId: nodeId(1), users: [userKey(1)] }), followed)
  assert.deepEqual(readFollowed({ ...followed, more: 1 }), { nodeId: nodeId(1), users: [userKey(1)] })
  for (const text of [QUESTION, QUESTION.replace('}', ',"more":1}')])
    assert.partialDeepStrictEqual(readQuestion(JSON.parse(text)), JSON.parse(QUESTION))
  for (const text of [ANSWER, ANSWER.replace('"reason"', '"more":1,"reason"')])
    assert.partialDeepStrictEqual(readAnswer(JSON.parse(text)), JSON.parse(ANSWER))
  for (const text of [REQUESTS, REQUESTS.replace('"limit"', '"more":1,"limit"')])
    assert.partialDeepStrictEqual(readOperatorQuestion(JSON.parse(text)), JSON.parse(REQUESTS))
  for (const text of [KEPT, KEPT.replace('"address"', '"more":1,"address"')])
    assert.partialDeepStrictEqual(READ_ANSWER.requests(JSON.parse(text)), JSON.parse(KEPT))
  for (const text of CHANGES) {
    assert.deepEqual(readPassedChange(JSON.parse(text)), JSON.parse(text))
    assert.partialDeepStrictEqual(readPassedChange(JSON.parse(text.replace('"operator"', '"more":1,"operator"'))), JSON.parse(text))
  }
  assert.deepEqual(readOwnersRefusal(JSON.parse(REFUSAL)), JSON.parse(REFUSAL))
})

function includes(message: object, recorded: object): boolean {
  try {
    assert.partialDeepStrictEqual(message, recorded)
    return true
  } catch {
    return false
  }
}

test('messages are sealed, and updates are written, as the version before reads them', () => {
  const { key } = identityOf(HASHER)
  const sealed = Buffer.from(new Envelope(key, Buffer.alloc(8, 1)).seal('a.b', Buffer.from('body')))
  assert.equal(sealed.toString('hex'), '010101010101010101f0200215e04e318a3a84ce00d19d90bc626f6479')
  const updates = [
    { userKey: userKey(1), seq: 258, topic: 'orders', frame: Buffer.from('frame') },
    { userKey: userKey(1), seq: 259, topic: 'positions', frame: null },
    { userKey: userKey(1), seq: 260, topic: 'balances', frame: null }
  ] as const
  const user = '0190a0b0c0d070008000000000000001'
  const recorded = `${user}0000000001020000000005${Buffer.from('frame').toString('hex')}${user}0000000001030100000000${user}0000000001040200000000`
  assert.equal(encodeUpdates(updates).toString('hex'), recorded)
  // A topic that only a newer version has: the log has these updates too.
  const newer = Buffer.from(recorded.replace('00000000010301', '00000000010309'), 'hex')
  assert.equal(decodeUpdates(newer, partitionOf(userKey(1))), null)
})

test('messages and openings are signed as the version before signs them, at the same paths', () => {
  const request = { method: 'POST', url: '/orders?a=1', headers: { host: 'h', 'client-id': 'pk', 'x-request-id': 'r' } }
  const platformAllowance = { limit: 100, remaining: 99, resetSeconds: 1, retryAfterSeconds: null }
  const vouched = { address: '192.0.2.44', platformAllowance, body: Buffer.from('{}') }
  const digest = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
  const mac = '3e8d85f4a208a2b0f88f91e4bf9c1804200f28daa9e7cfa8457d90dc42b7d9af'
  const recorded = `a-session-of-a-process 0 100 99 1 2 ${digest} 192.0.2.44 ${mac}`
  assert.equal(new Signer(signatureKey(HASHER), 'a-session-of-a-process').sign(nodeId(1), request, vouched), recorded)
  const headers = { ...request.headers, 'content-length': '2', [SIGNATURE]: recorded }
  assert.equal(new Verifier(signatureKey(HASHER), nodeId(1)).verify({ ...request, headers })?.address, '192.0.2.44')
  const names = [SIGNATURE, BETWEEN_NODES.notExecuted, BETWEEN_NODES.userLimited]
  assert.deepEqual(names, ['trunkline-passed-on', 'trunkline-not-executed', 'trunkline-user-limited'])
  const paths = [DIRECT_MESSAGE_PATH, FOLLOWED_PATH, HEALTH_PATH, OPERATORS_PATH, CHANGES_PATH, MARKET_PATH]
  const recordedPaths = ['message', 'followed', 'health', 'operators', 'operators/changes', 'market-data/stream']
  assert.deepEqual(
    paths,
    recordedPaths.map(path => `/nodes/${path}`)
  )
})

test('links are opened, sealed and written as the version before reads them', () => {
  assert.equal(LINK_PATH, '/nodes/requests')
  assert.deepEqual(LINK_PROTOCOLS, ['trunkline-requests-1'])
  const { toOwner, fromOwner } = linkKeys(signatureKey(HASHER), 'opening', 'chance')
  const sealer = new Sealer(toOwner)
  const records = [sealer.seal(Buffer.from('one')), sealer.seal(Buffer.from('two'))].map(record => record.toString('hex'))
  assert.deepEqual(records, ['00000013400a8f787abac5a6fc530e45a87af01dcf5cab', '000000137403a3f87014139f557d79f8b00d5690370477'])
  assert.equal(new Sealer(fromOwner).seal(Buffer.from('one')).toString('hex'), '00000013c62ed232fde3ce7d32540c28d1c81b940514fd')
  const platformAllowance = { limit: 100, remaining: 99, resetSeconds: 1 }
  const request = {
    method: 'POST',
    url: '/orders?a=1',
    address: '192.0.2.44',
    platformAllowance,
    headers: { host: 'h' },
    body: Buffer.from('{}')
  }
  const head = 'POST\n/orders?a=1\n192.0.2.44\n100 99 1\nhost:h'
  assert.equal(encodeRequest(request).toString('latin1'), `\0\0\0${String.fromCharCode(head.length)}${head}{}`)
  const answer = encodeAnswer(201, { 'content-type': 'application/json' }, [Buffer.from('{}')])
  assert.equal(answer.toString('latin1'), '\0\0\0\x21201\ncontent-type:application/json{}')
})

test('the instance, and the division of the users among the nodes, are those of the version before', () => {
  assert.equal(identityOf(HASHER).instance, 'aaf8b73547d15307')
  assert.equal(partitionOf(userKey(0x1ab)), 0xab)
  const shares = division([1, 2, 3].map(nodeId))
  const owners = ALL_PARTITIONS.map(partition => shares.get(partition)).join()
  assert.equal(hash('sha256', owners), '517c8f92a25cbe214a193c037f2c85ebca3f183ef77272319826e14ba0f6b42e')
})
