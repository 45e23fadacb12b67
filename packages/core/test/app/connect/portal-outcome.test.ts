import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connected, ended } from '../../../src/app/connect/portal-outcome.ts'
import type { ConnectionAttempt } from '../../../src/domain/account.ts'
import { type AttemptId, type BrokerId, type ConnectionId, type PlatformId, parseUuid, type UserKey } from '../../../src/domain/ids.ts'
import { timestampOfMs } from '../../../src/domain/timestamp.ts'

const CONNECTION = parseUuid<ConnectionId>('0190a000-0000-7000-8000-00000000000c', 'connection')

function attempt(redirectUrl: string | null, redirectOnErrorUrl: string | null = null): ConnectionAttempt {
  return {
    attemptId: parseUuid<AttemptId>('0190a000-0000-7000-8000-00000000000a', 'attempt'),
    platformId: parseUuid<PlatformId>('0190a000-0000-7000-8000-000000000001', 'platform'),
    userKey: parseUuid<UserKey>('0190a000-0000-7000-8000-000000000002', 'user'),
    ...{
      keyId: null,
      connectionType: 'trade',
      broker: 'SANDBOX' as BrokerId,
      renewConnectionId: null,
      chosenBroker: null,
      redirectUrl,
      redirectOnErrorUrl
    },
    ...{ createdAt: timestampOfMs(0), expiresAt: timestampOfMs(1_800_000), status: 'open', browserHash: null, stateHash: null }
  }
}

test('success redirects to redirect_url with connection_id; without a redirect_url there is no redirect', () => {
  assert.equal(connected(attempt('https://a.example/x'), CONNECTION).redirect, `https://a.example/x?connection_id=${CONNECTION}`)
  assert.equal(connected(attempt(null, 'https://a.example/failed'), CONNECTION).redirect, null)
})

test('an error redirects to redirect_on_error_url, otherwise to redirect_url; without either there is no redirect', () => {
  const errorAt = (target: ConnectionAttempt) => {
    const { redirect } = ended(target, 'declined')
    return redirect === null ? null : new URL(redirect).origin
  }
  assert.equal(errorAt(attempt('https://a.example/', 'https://b.example/')), 'https://b.example')
  assert.equal(errorAt(attempt('https://a.example/')), 'https://a.example')
  assert.equal(errorAt(attempt(null)), null)
  assert.equal(ended(null, 'other_browser').redirect, null)
})

test('each outcome has the error number of the contract and a message that survives the redirect', () => {
  for (const [reason, number] of [
    ['declined', '401'],
    ['expired', '400'],
    ['used', '400'],
    ['broker_down', '500']
  ] as const) {
    const { searchParams } = new URL(ended(attempt('https://a.example/x?y=1'), reason).redirect ?? '')
    assert.deepEqual([...searchParams.keys()], ['y', 'error', 'error_details'])
    assert.equal(searchParams.get('error'), number)
    assert.match(searchParams.get('error_details') ?? '', /^The [\p{L} ]+\.( [\p{L} ]+\.)?$/u)
  }
})

test('the platform’s own query is unchanged, except for parameters that could be read in place of ours', () => {
  const at = (target: string) => connected(attempt(target), CONNECTION).redirect
  const ours = `connection_id=${CONNECTION}`
  assert.equal(at('https://a.example'), `https://a.example?${ours}`)
  assert.equal(at('https://a.example/?'), `https://a.example/?${ours}`)
  assert.equal(at('https://a.example/?flag&sig=a%20b~%2f!()'), `https://a.example/?flag&sig=a%20b~%2f!()&${ours}`)
  assert.equal(at('https://a.example/?next=/a?b=c'), `https://a.example/?next=/a?b=c&${ours}`)
  assert.equal(at('https://a.example/?connection_id=forged&x=1'), `https://a.example/?x=1&${ours}`)
  assert.equal(at('https://a.example/?error=401&x=%20y&error_details=no&claim_code=z'), `https://a.example/?x=%20y&${ours}`)
  assert.equal(at('https://a.example/?connection%5Fid=forged'), `https://a.example/?${ours}`)
})
