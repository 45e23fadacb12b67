import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf, mergedClaims } from '../../src/oidc/claims.ts'

const READ = { host: 'login.example.com', subject: 'ada', operatorClaim: 'email', grantClaim: 'groups' }
const nameIn = (idToken: object, userInfo: object) => identityOf(mergedClaims({ ...idToken }, { ...userInfo }), READ).name

test('an address and its verification are of one document [S93]', () => {
  const [mine, theirs] = [{ email: 'ada@example.com' }, { email: 'victim@example.com' }]
  const verified = { email_verified: true }
  assert.throws(() => nameIn(verified, theirs), { name: 'LoginRefused' })
  assert.throws(() => nameIn(mine, verified), { name: 'LoginRefused' })
  assert.throws(() => nameIn({ ...mine, ...verified }, { email_verified: false }), { name: 'LoginRefused' })
  assert.equal(nameIn({ ...mine, ...verified }, { groups: ['ops'] }), 'ada@example.com')
  assert.equal(nameIn({ ...mine, ...verified }, theirs), 'ada@example.com')
  assert.equal(nameIn({}, { ...mine, ...verified }), 'ada@example.com')
})
