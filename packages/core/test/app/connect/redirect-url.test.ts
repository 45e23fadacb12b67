import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuTimeOf } from '@trunkline/testkit/cpu-time'
import fc from 'fast-check'
import { checkRedirectUrl } from '../../../src/app/connect/redirect-url.ts'
import { ServiceError } from '../../../src/domain/errors.ts'

const GOOD = [
  'https://app.example.com',
  'https://app.example.com/',
  'https://app.example.com/linked?from=trunkline&x=%2F',
  'https://app.example.com?x=1',
  'https://app.example.com:8443/a@b',
  'https://xn--bcher-kva.example/linked',
  'https://intranet/linked',
  'https://[2001:db8::1]/linked',
  'http://localhost:3000/done',
  'http://127.0.0.1:3000/done',
  'http://[::1]:3000/done'
]

const HOSTILE = [
  '',
  'linked',
  '/linked',
  '//evil.example',
  '///evil.example',
  'https:evil.example',
  'https:/evil.example',
  'https:/\\evil.example',
  'https:\\\\evil.example',
  'https://good.example\\@evil.example',
  'https://good.example@evil.example/',
  'https://good.example:secret@evil.example/',
  'https://good%2eexample/',
  'https://good。example/',
  'https://good．example/',
  'https://good.example./',
  'https://good..example/',
  'https://.example/',
  'https://-good.example/',
  'https://GOOD.example/',
  'HTTPS://good.example/',
  'https://bücher.example/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://[::ffff:127.0.0.1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://good.example:0/',
  'https://good.example:99999/',
  'https://good.example:/',
  'https://good.example/#fragment',
  'https://good.example/#',
  'https://good.example/a b',
  ' https://good.example/',
  'https://good.example/\u00a0',
  'https://good.example/\r\nset-cookie: a=b',
  'https://good.example/%0d%0aset-cookie:%20a=b',
  'https://good.example/%0A',
  'https://good.example/\u0000',
  'https://good.example/%00',
  'https://good.example/\u202e',
  'http://good.example/',
  'http://127.0.0.1.evil.example/',
  'http://localhost.evil.example/',
  'http://10.0.0.1/',
  'javascript:alert(1)',
  'java\tscript:alert(1)',
  'javascript://good.example/%0aalert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'ftp://good.example/',
  'myapp://linked',
  `https://good.example/${'a'.repeat(2_028)}`
]

function isRefusal(field: string): (error: unknown) => boolean {
  return error => error instanceof ServiceError && error.code === 'field_invalid' && error.details[0]?.path === field
}

for (const url of GOOD) {
  test(`accepts ${url} unchanged`, () => {
    assert.equal(checkRedirectUrl(url, []), url)
  })
}

for (const url of HOSTILE) {
  test(`refuses ${JSON.stringify(url.slice(0, 60))}`, () => {
    assert.throws(() => checkRedirectUrl(url, []), isRefusal('redirect_url'))
  })
}

test('an allow-list is compared character for character', () => {
  const allowList = ['https://app.example.com/linked', 'http://localhost:3000/linked']
  assert.equal(checkRedirectUrl('https://app.example.com/linked', allowList), 'https://app.example.com/linked')
  for (const near of [
    'https://app.example.com/linked/',
    'https://app.example.com/linked?x=1',
    'https://app.example.com/linked/more',
    'https://app.example.com:443/linked',
    'https://app.example.com:8443/linked',
    'https://app.example.com/LINKED',
    'https://sub.app.example.com/linked',
    'http://localhost:3001/linked'
  ]) {
    assert.throws(() => checkRedirectUrl(near, allowList, 'redirect_on_error_url'), isRefusal('redirect_on_error_url'), near)
  }
})

test('a hostile entry of the allow-list does not become allowed', () => {
  assert.throws(() => checkRedirectUrl('javascript:alert(1)', ['javascript:alert(1)']), isRefusal('redirect_url'))
})

test('for every accepted URL, a URL parser finds the host that was written', () => {
  const piece = fc.constantFrom(
    'https://',
    'http://',
    'good.example',
    'localhost',
    '@',
    '\\',
    '/',
    '//',
    '?',
    '#',
    '%2e',
    '.',
    ':',
    '8',
    '[::1]',
    'é'
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
      const raw = pieces.join('')
      try {
        checkRedirectUrl(raw, [])
      } catch (error) {
        assert.ok(isRefusal('redirect_url')(error))
        return
      }
      const { host, hostname, username, password, hash, protocol } = new URL(raw)
      const written = raw.slice(raw.indexOf('//') + 2).split(/[/?]/)[0]
      assert.ok(written === host || written === `${hostname}:443` || written === `${hostname}:80`)
      assert.deepEqual([username, password, hash], ['', '', ''])
      assert.ok(protocol === 'https:' || hostname === 'localhost' || hostname === '[::1]')
    })
  )
})

test('a long hostile text is checked quickly', () => {
  const taken = cpuTimeOf(() => {
    for (const unit of ['a-', 'a.', '%0', '@', '-']) assert.throws(() => checkRedirectUrl(`https://${unit.repeat(32_768)}`, []))
  })
  assert.ok(taken < 250, `${taken} ms`)
})
