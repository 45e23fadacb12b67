import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerFault, LoginRefused } from '@trunkline/core/ports/broker'
import { never as signal } from '@trunkline/testkit/patience'
import fc from 'fast-check'
import { apiKeys } from '../../src/kit/api-key.ts'

const keys = apiKeys({
  helpUrl: 'https://broker.example/keys',
  parts: [
    { name: 'id', label: 'Key id', secret: false, lengthMax: 20, header: 'x-key', form: '4 to 20 letters', pattern: /^[A-Z]{4,20}$/ },
    { name: 'secret', label: 'Secret', secret: true, lengthMax: 40, header: 'x-secret', form: 'up to 40 characters', pattern: /^/ }
  ]
})

test('what was entered becomes credentials, a token, and a header for each key', async () => {
  const credentials = await keys.login.complete({ id: ' ABCD\n', secret: 's=/+e', other: 'x' }, signal)
  assert.deepEqual(credentials, { id: 'ABCD', secret: 's=/+e' })
  const { token, ...rest } = keys.tokenOf(credentials)
  assert.deepEqual(rest, { issuedAt: null, expiresAt: null, isRenewable: false })
  assert.deepEqual(keys.keysOf(token), ['ABCD', 's=/+e'])
  assert.deepEqual(keys.authorize(token), ['x-key', 'ABCD', 'x-secret', 's=/+e'])
  assert.deepEqual(keys.login.fields, [
    { name: 'id', label: 'Key id', secret: false, lengthMax: 20 },
    { name: 'secret', label: 'Secret', secret: true, lengthMax: 40 }
  ])
  await keys.login.revoke(credentials, signal)
})

test('what cannot be a key is refused with a message that does not repeat it', async () => {
  for (const entered of [{}, { id: 'ABCD' }, { id: 'abcd', secret: 's' }, { id: 'ABCD', secret: 'x y' }, { id: 'ABCD', secret: 'é' }])
    await assert.rejects(keys.login.complete(entered, signal), LoginRefused)
  await assert.rejects(keys.login.complete({ id: 'ABCD', secret: 'q'.repeat(41) }, signal), (error: unknown) => {
    assert.ok(error instanceof LoginRefused)
    assert.equal(error.message, 'Secret must be up to 40 characters')
    return true
  })
})

test('whatever is entered either is refused or cannot leave its header', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async secret => {
      const credentials = await keys.login.complete({ id: 'ABCD', secret }, signal).catch((error: unknown) => error)
      if (credentials instanceof LoginRefused) return
      assert.deepEqual(credentials, { id: 'ABCD', secret: secret.trim() })
      assert.match(secret.trim(), /^[!-~]+$/)
    })
  )
})

test('keys are not renewed, and credentials of another login are none', async () => {
  const isRejected = (error: unknown) => error instanceof BrokerFault && error.kind === 'credentials_rejected'
  await assert.rejects(keys.refresh({ id: 'ABCD', secret: 's' }, signal), isRejected)
  assert.throws(() => keys.tokenOf({ access_token: 'x' }), isRejected)
})
