// S70 and S80: a line of the log is one line, is bounded, and never holds a secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogFields } from '@trunkline/core/ports/log'
import { cpuTimeOf } from '@trunkline/testkit/cpu-time'
import fc from 'fast-check'
import { SECRET_SETTINGS, secretValuesOf, settingsOf } from '../../src/config/settings.ts'
import { PinoLog } from '../../src/ops/log.ts'

/** What a real secret could look like, so that no shape betrays it: only its name does. */
const CANARY = 'canary word'

function written(fields: LogFields, message = 'message', secrets: readonly string[] = []): string {
  const lines: string[] = []
  new PinoLog('debug', { write: line => void lines.push(line) }, secrets).info(message, fields)
  assert.equal(lines.length, 1)
  return lines[0] ?? ''
}

/** The line as a reader parses it; asserts that it is exactly one. */
function parsed(line: string): Record<string, unknown> {
  const breaking = [...line.slice(0, -1)].filter(character => /\p{Cc}|\p{Zl}|\p{Zp}/u.test(character))
  assert.deepEqual(breaking, [])
  assert.ok(line.endsWith('\n'))
  return JSON.parse(line)
}

test('a line is JSON with level, time, message and fields', () => {
  const line = parsed(written({ orderId: 'o-1', ms: 1.5, open: true, none: null, missing: undefined }))
  assert.deepEqual({ ...line, time: '' }, { level: 30, time: '', msg: 'message', orderId: 'o-1', ms: 1.5, open: true, none: null })
  assert.match(String(line.time), /^\d{4}-\d\d-\d\dT/)
})

test('lines below the level are not written', () => {
  const lines: string[] = []
  const log = new PinoLog('warn', { write: line => void lines.push(line) })
  log.debug('a')
  log.info('b')
  log.warn('c')
  log.error('d')
  assert.deepEqual(
    lines.map(line => JSON.parse(line).msg),
    ['c', 'd']
  )
})

test('a value under a secret name is cut out, however the name is spelled and however deep it lies [S80]', () => {
  const names = [
    ...['password', 'secret', 'clientSecret', 'client_secret', 'client-secret', 'CLIENT_SECRET', 'user-secret', 'authorization'],
    ...['Authorization', 'cookie', 'set-cookie', 'token', 'accessToken', 'access_token', 'refreshToken', 'id_token', 'code', 'state'],
    ...['verifier', 'code_verifier', 'credentials', 'apiKey', 'api-key', 'databaseUrl', 'masterKeys', 'sandboxClientSecret', 'passphrase'],
    ...SECRET_SETTINGS
  ]
  for (const name of names) {
    for (const value of [CANARY, [CANARY], { text: CANARY }, Buffer.from(CANARY)]) {
      for (const fields of [{ [name]: value }, { a: { [name]: value } }, { a: [{ b: { c: { [name]: value } } }] }])
        assert.ok(!written(fields).includes('canary'), `${name} in ${JSON.stringify(fields)}`)
    }
  }
})

test('texts that look like secrets are cut out of messages, fields, names, arrays and addresses [S80]', () => {
  const token = 'Qm9va2tlZXBlclRva2VuMTIzNDU2Nzg5MGFiY2RlZmdoaWprbG1u'
  const hidden = [
    `the secret is sk_${token}`,
    `us_${token}`,
    `x=secret_mdt_${token}`,
    `authorization: Bearer ${token}`,
    'Authorization: Basic dXNlcjpjYW5hcnk=',
    `https://user:canary-pw@db.example/x`,
    'postgres://trunkline:canary%2Fpw@db.example:5432/trunkline',
    `https://x.example/connect/callback/SANDBOX?code=canary1&state=canary2&x=1`,
    `https://x.example/connect/${token.slice(0, 43)}`,
    'https://x.example/a?refresh_token=canary3#id_token=canary',
    '{"access_token":"canary4","expires_in":3600}',
    '{"refresh_token": "canary5"}',
    "password = 'canary6'",
    'client_secret=canary7&grant_type=refresh_token',
    'set-cookie: canary8',
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl`,
    `k1:${Buffer.alloc(32, 'canary').toString('base64')}`,
    `the broker said ${token}`
  ]
  const canaries = /canary|Qm9va2tl|Y2FuYXJ5|eyJzdWIi|dXNlcjpj/
  for (const text of hidden) {
    const shown = [
      written({}, text),
      written({ note: text }),
      written({ list: ['a', { deep: text }] }),
      written({ [text]: 1 }),
      written({ cause: new Error(text) })
    ]
    for (const line of shown) assert.doesNotMatch(line, canaries, text)
  }
})

test('what is no secret stays readable', () => {
  const id = '018f2c1e-7d3a-7b1e-9c55-0f6a1b2c3d4e'
  const line = parsed(
    written({
      requestId: id,
      route: '/v1/accounts/:account_id/orders/:order_id',
      address: 'https://api.example.com/orders?limit=50&status=open',
      errorCode: 'ECONNRESET',
      reason: 'the socket hung up (code 1006)',
      keyId: 'k0a1b2c3d4e5f',
      hash: 'a'.repeat(64)
    })
  )
  assert.equal(line.requestId, id)
  assert.equal(line.route, '/v1/accounts/:account_id/orders/:order_id')
  assert.equal(line.address, 'https://api.example.com/orders?limit=50&status=open')
  assert.equal(line.reason, 'the socket hung up (code 1006)')
  assert.equal(line.hash, 'a'.repeat(64))
  assert.equal(line.keyId, 'k0a1b2c3d4e5f')
})

test('errors are described with their causes, and secrets in any of them are cut out [S80]', () => {
  const secret = `sk_${'x1'.repeat(20)}`
  const root = Object.assign(new Error(`refused: {"refresh_token":"canary"}\nAuthorization: Bearer canary\n  canary`), {
    code: 'E_ROOT',
    config: { password: CANARY }
  })
  const middle = new Error(`call failed ${secret}`, { cause: root })
  const top = new AggregateError([new Error('one, token=canary'), middle], 'several', { cause: { password: CANARY, kind: 'canary-free' } })
  const text = written({ cause: top, nested: { error: middle } })
  const line = parsed(text)
  assert.doesNotMatch(text.replaceAll('canary-free', ''), /Bearer canary|token":"canary|token=canary|canary word/)
  assert.ok(!text.includes(secret))
  assert.match(text, /E_ROOT/)
  assert.match(text, /call failed \[redacted\]/)
  // The stack is frames; the lines of a message are not taken for any.
  assert.doesNotMatch(JSON.stringify(stacksIn(line)), /canary/)
})

test('an error that is its own cause ends', () => {
  const error = new Error('round')
  error.cause = error
  assert.ok(written({ cause: error }).length < 20_000)
})

test('the values of secret settings are cut out wherever they appear, whole or in part [S80]', () => {
  const key = Buffer.alloc(32, 7).fill(1, 0, 9).toString('base64')
  const settings = settingsOf({
    TRUNKLINE_DATABASE_URL: 'postgres://app:p%40ss-word@db.example/main',
    TRUNKLINE_MASTER_KEYS: `first:${key}`,
    TRUNKLINE_SANDBOX_CLIENT_SECRET: 'quite ordinary words'
  })
  const text = written(
    { reason: `cannot connect to postgres://app:p%40ss-word@db.example/main`, hint: 'user app, p@ss-word', other: `it was ${key}!` },
    'quite ordinary words',
    secretValuesOf(settings)
  )
  assert.doesNotMatch(text, /ss-word|ordinary/)
  assert.ok(!text.includes(key))
})

test('line breaks, escape sequences, invisible characters and JSON cannot leave their place [S70]', () => {
  const attacks = [
    'first\r\n{"level":30,"msg":"forged"}',
    'a\nb\u2028c\u2029d\u0085e',
    '\u001b[2J\u001b]0;title\u0007\u009b31m',
    '","level":60,"msg":"forged',
    '\u202egnp.exe\u2066\u200b\ufeff',
    '\u0000\u0008\u007f',
    '\ud800 lone \udfff'
  ]
  for (const attack of attacks) {
    for (const line of [written({}, attack), written({ note: attack }), written({ [attack]: attack }), written({ e: new Error(attack) })]) {
      const fields = parsed(line)
      assert.equal(fields.level, 30)
      assert.doesNotMatch(line, /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/)
    }
    assert.notEqual(parsed(written({ note: attack })).msg, 'forged')
  }
})

test('a field cannot pass itself off as the line’s own level, time or message', () => {
  const line = parsed(written({ level: 60, time: 'never', msg: 'forged', ['__proto__']: { admin: true } }))
  assert.equal(line.level, 30)
  assert.equal(line.msg, 'message')
  assert.equal(line.field_msg, 'forged')
  assert.equal(Reflect.get(line, 'admin'), undefined)
})

test('what is unusual is written in words, and never throws', () => {
  const round: Record<string, unknown> = {}
  round.self = round
  const line = parsed(
    written({
      big: 2n ** 70n,
      bytes: new Uint8Array(9),
      map: new Map([['password', CANARY]]),
      date: new Date(0),
      bad: new Date(Number.NaN),
      url: new URL('https://u:canary@x.example/'),
      run: () => CANARY,
      sign: Symbol('canary'),
      round,
      get broken(): string {
        throw new Error('no')
      },
      hostile: { toJSON: () => CANARY, toString: () => CANARY },
      nan: Number.NaN
    })
  )
  assert.equal(line.big, '1180591620717411303424')
  assert.equal(line.bytes, '[9 bytes]')
  assert.equal(line.map, '[1 entries]')
  assert.equal(line.date, '1970-01-01T00:00:00.000Z')
  assert.equal(line.bad, '[unreadable]')
  assert.equal(line.broken, '[unreadable]')
  assert.ok(!JSON.stringify(line).includes('canary'))
})

test('a line is bounded, whatever is given', () => {
  const wide = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`f${i}`, Array.from({ length: 100 }, () => ({ a: ['x'.repeat(300)] }))])
  )
  const line = written({ ...wide, long: 'y '.repeat(100_000) }, 'z'.repeat(1_000_000))
  assert.ok(line.length < 700_000, String(line.length))
  assert.ok(written({ long: 'y '.repeat(1_000_000) }).length < 1_500)
})

test('half of a secret is not left where a long text is cut', () => {
  for (let at = 7_900; at < 8_050; at += 7) {
    const line = written({ text: `${'w '.repeat(at / 2)}sk_${'Canary1'.repeat(8)} end` })
    assert.doesNotMatch(line, /Canary/)
  }
})

test('no text takes long, however it is built [S68]', () => {
  const evil = [
    'a'.repeat(200_000),
    '='.repeat(8_000),
    'token='.repeat(1_500),
    '?code='.repeat(1_300),
    `${'aA1-'.repeat(2_000)}!`,
    '://'.repeat(2_600),
    `x://${'a'.repeat(7_900)}`
  ]
  for (const text of evil) {
    const taken = cpuTimeOf(() => written({ text }))
    assert.ok(taken < 200, `${text.slice(0, 20)}… took ${taken} ms`)
  }
})

test('no structure brings a secretly named value into the log [S80]', () => {
  const name = fc.constantFrom('password', 'client_secret', 'accessToken', 'Cookie', 'authorization', 'TRUNKLINE_DATABASE_URL')
  const { tree } = fc.letrec(tie => ({
    leaf: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    hidden: fc.dictionary(name, fc.constant(CANARY), { minKeys: 1, maxKeys: 2 }),
    tree: fc.oneof(
      { maxDepth: 3 },
      tie('leaf'),
      tie('hidden'),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('tree'), { maxKeys: 3 })
    )
  }))
  fc.assert(
    fc.property(fc.dictionary(fc.string(), tree), fc.string({ unit: 'binary' }), (fields, message) => {
      const line = written(fields, message)
      assert.ok(!line.includes(CANARY))
      assert.equal(parsed(line).level, 30)
    }),
    { numRuns: 60 }
  )
})

function stacksIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => (name === 'stack' ? [inner] : stacksIn(inner)))
}
