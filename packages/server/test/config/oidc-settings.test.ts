// Who may log in by the provider, and what the settings must say for it.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { inspectEnvironment, secretValuesOf, settingsOf } from '../../src/config/settings.ts'

const GOOD = {
  TRUNKLINE_OIDC_ISSUER: 'https://login.example.com/tenant',
  TRUNKLINE_OIDC_CLIENT_ID: 'trunkline',
  TRUNKLINE_OIDC_CLIENT_SECRET: 'canary-secret'
}
const faultsOf = (env: Readonly<Record<string, string>>) =>
  inspectEnvironment({ ...GOOD, ...env }).faults.map(({ env: name, message }) => `${name} ${message}`)
const grantsOf = (text: string) => settingsOf({ ...GOOD, TRUNKLINE_OIDC_GRANTS: text }).oidcGrants

test('without settings nobody logs in by a provider, and with an issuer alone nobody has a scope', () => {
  assert.equal(settingsOf({}).oidcIssuer, null)
  assert.deepEqual(settingsOf(GOOD).oidcGrants, [])
  assert.ok(secretValuesOf(settingsOf(GOOD)).includes('canary-secret'))
})

test('the issuer is https, or a provider on this machine, and exactly an issuer', () => {
  for (const issuer of ['https://login.example.com', 'https://login.example.com/', 'http://127.0.0.1:9000', 'http://localhost:9000/x'])
    assert.equal(settingsOf({ ...GOOD, TRUNKLINE_OIDC_ISSUER: issuer }).oidcIssuer, issuer)
  for (const wrong of [
    'http://login.example.com',
    'http://localhost.example.com',
    'login.example.com',
    'ftp://login.example.com',
    'https://login.example.com/?tenant=1',
    'https://login.example.com/#x',
    'https://user:pass@login.example.com',
    'https://login.example.com/.well-known/openid-configuration'
  ])
    assert.match(faultsOf({ TRUNKLINE_OIDC_ISSUER: wrong }).join(), /^TRUNKLINE_OIDC_ISSUER must be the issuer as/, wrong)
})

test('what is missing beside an issuer is said, and what has no effect without one', () => {
  const { TRUNKLINE_OIDC_ISSUER: issuer, ...without } = GOOD
  assert.match(
    inspectEnvironment({ TRUNKLINE_OIDC_ISSUER: issuer })
      .faults.map(({ env }) => env)
      .join(),
    /CLIENT_ID,TRUNKLINE_OIDC_CLIENT_SECRET$/
  )
  assert.deepEqual(
    inspectEnvironment(without).faults.map(({ env }) => env),
    ['TRUNKLINE_OIDC_ISSUER']
  )
  assert.deepEqual(
    inspectEnvironment({ TRUNKLINE_OIDC_GRANTS: 'x=read' }).faults.map(({ env }) => env),
    ['TRUNKLINE_OIDC_ISSUER']
  )
  assert.match(faultsOf({ TRUNKLINE_PUBLIC_URL: 'http://trade.example.com' }).join(), /^TRUNKLINE_PUBLIC_URL must be https for/)
  assert.deepEqual(faultsOf({ TRUNKLINE_PUBLIC_URL: 'http://localhost:8080' }), [])
})

test('grants are values with their scopes; the last = counts, since names of groups have others', () => {
  assert.deepEqual(grantsOf(' trading floor = read ; cn=ops,ou=x=manage+read;ada@example.com=sandbox; '), [
    { value: 'trading floor', scopes: ['read'] },
    { value: 'cn=ops,ou=x', scopes: ['read', 'manage'] },
    { value: 'ada@example.com', scopes: ['sandbox'] }
  ])
  for (const wrong of [
    'ada',
    'ada=',
    '=read',
    'ada=admin',
    'ada=read+',
    'ada=read,manage',
    `${'x'.repeat(257)}=read`,
    'a=read;'.repeat(201)
  ])
    assert.match(faultsOf({ TRUNKLINE_OIDC_GRANTS: wrong }).join(), /^TRUNKLINE_OIDC_GRANTS must be at most 200 grants such as/, wrong)
})

test('the request has openid in it, and claims have names', () => {
  assert.equal(settingsOf({ ...GOOD, TRUNKLINE_OIDC_REQUEST: 'openid   groups' }).oidcRequest, 'openid groups')
  assert.match(faultsOf({ TRUNKLINE_OIDC_REQUEST: 'email' }).join(), /with openid among them/)
  assert.match(faultsOf({ TRUNKLINE_OIDC_GRANT_CLAIM: 'a b' }).join(), /the name of a claim/)
  assert.match(faultsOf({ TRUNKLINE_OIDC_NAME: 'x'.repeat(61) }).join(), /at most 60 characters/)
})

test('the settings of the guide are whole, and grant what they say', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/operating.md', import.meta.url), 'utf8')
  const [, block = ''] = /^ *```sh settings\n([\s\S]*?)^ *```$/m.exec(guide) ?? []
  const set = [...block.matchAll(/(TRUNKLINE_\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, plain]) => [name, quoted ?? plain])
  const { oidcGrants, oidcRequest, oidcOperatorClaim, oidcGrantClaim } = settingsOf(Object.fromEntries(set))
  assert.deepEqual([oidcRequest, oidcOperatorClaim, oidcGrantClaim], ['openid email groups', 'email', 'groups'])
  assert.deepEqual(oidcGrants, [
    { value: 'trading-support', scopes: ['read'] },
    { value: 'trading-operations', scopes: ['read', 'manage'] }
  ])
})
