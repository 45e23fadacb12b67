// What check-config finds out about the provider that operators log in with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLIENT, TestLoginProvider } from '@trunkline/testkit/login-provider'
import { checkLoginProvider } from '../../src/cli/checks/login-provider.ts'
import { inspectEnvironment } from '../../src/config/settings.ts'

const SET = {
  TRUNKLINE_PUBLIC_URL: 'https://trade.example.com',
  TRUNKLINE_OIDC_CLIENT_ID: CLIENT.id,
  TRUNKLINE_OIDC_CLIENT_SECRET: CLIENT.secret,
  TRUNKLINE_OIDC_REQUEST: 'openid groups',
  TRUNKLINE_OIDC_GRANTS: 'traders=read'
}

async function found(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { values, faults } = inspectEnvironment({ ...SET, ...env })
  assert.deepEqual(faults, [])
  return (await checkLoginProvider(values)).map(({ level, about, message }) => `${level} ${about} ${message}`)
}

test('check-config says whether the provider can be used, which address to register, and what it does not announce', async () => {
  await using kit = await TestLoginProvider.start()
  const host = new URL(kit.issuer).host
  const callback = 'https://trade.example.com/admin/v1/oidc/callback'
  const ok = `ok TRUNKLINE_OIDC_ISSUER ${host} can be used; register the redirect address ${callback} there`
  assert.deepEqual(await found({ TRUNKLINE_OIDC_ISSUER: kit.issuer }), [ok])
  const more = await found({ TRUNKLINE_OIDC_ISSUER: kit.issuer, TRUNKLINE_OIDC_REQUEST: 'openid everything', TRUNKLINE_OIDC_GRANTS: ';' })
  assert.match(more.join('\n'), /\nwarning TRUNKLINE_OIDC_REQUEST names everything, .*\nwarning TRUNKLINE_OIDC_GRANTS is empty: nobody/)
  kit.twists.set('discovery', ({ code_challenge_methods_supported: _, ...body }) => body)
  assert.match((await found({ TRUNKLINE_OIDC_ISSUER: kit.issuer })).join('\n'), /\nwarning TRUNKLINE_OIDC_ISSUER .* PKCE/)
  const [slash = ''] = await found({ TRUNKLINE_OIDC_ISSUER: `${kit.issuer}/` })
  assert.match(slash, /^fault TRUNKLINE_OIDC_ISSUER .* calls itself http.*\. Correct the issuer/)
})

test('a provider that is not there is a fault, without its secret; no provider is nothing to check', async () => {
  const [down = ''] = await found({ TRUNKLINE_OIDC_ISSUER: 'http://127.0.0.1:9' })
  assert.match(down, /^fault TRUNKLINE_OIDC_ISSUER 127\.0\.0\.1:9 did not answer \(ECONNREFUSED\)/)
  assert.ok(!down.includes(CLIENT.secret))
  assert.deepEqual(await checkLoginProvider(inspectEnvironment({}).values), [])
})
