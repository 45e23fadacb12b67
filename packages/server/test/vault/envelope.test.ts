// S58 to S60 and S63: a seal opens where it was made, as it was made, and nowhere else.
import assert from 'node:assert/strict'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { mock, test } from 'node:test'
import { SealBroken, type SealContext } from '@trunkline/core/ports/vault'
import fc from 'fast-check'
import { EnvelopeVault, sealedKeyId } from '../../src/vault/envelope.ts'
import { CONTEXT, key, randomParts, ring } from './rings.ts'

const SECRET = JSON.stringify({ access_token: 'at-1', refresh_token: 'rt-1' })

function broken(vault: EnvelopeVault, sealed: Uint8Array, context: SealContext = CONTEXT, what = ''): void {
  assert.throws(
    () => vault.open(sealed, context),
    error => error instanceof SealBroken && !error.message.includes('at-1'),
    what
  )
}

test('what was sealed opens again, whatever it is', () => {
  const vault = new EnvelopeVault(ring(key('k1')))
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3_000 }), fc.nat(), (text, revision) => {
      assert.equal(vault.open(vault.seal(text, { ...CONTEXT, revision }), { ...CONTEXT, revision }), text)
    })
  )
})

test('a seal moved to another row, user, column, table or revision does not open [S58]', () => {
  const vault = new EnvelopeVault(ring(key('k1')))
  const sealed = vault.seal(SECRET, CONTEXT)
  const elsewhere: readonly Partial<SealContext>[] = [
    { rowId: 'row-2' },
    { ownerId: 'user-2' },
    { column: 'verifier' },
    { table: 'revocations' },
    { revision: 6 },
    { revision: 8 },
    // Texts that would look the same if the parts were joined carelessly.
    { table: 'connections|credentials', column: 'row-1' },
    { rowId: 'row-1|user-1', ownerId: '' },
    { rowId: 'row-1","user-1', ownerId: '7' }
  ]
  for (const change of elsewhere) broken(vault, sealed, { ...CONTEXT, ...change }, JSON.stringify(change))
})

test('the contents of two seals of one context cannot be exchanged [S58]', () => {
  const vault = new EnvelopeVault(ring(key('k1')))
  const [a, b] = [vault.seal('first', CONTEXT), vault.seal('second', CONTEXT)]
  const head = 2 + 'k1'.length + 12 + 16 + 32
  broken(vault, Buffer.concat([a.subarray(0, head), b.subarray(head)]))
})

test('any flipped bit closes the seal [S59]', () => {
  const vault = new EnvelopeVault(ring(key('k1'), key('k0')))
  const sealed = vault.seal(SECRET, CONTEXT)
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const altered = Buffer.from(sealed)
    altered.writeUInt8(altered.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
    assert.throws(() => vault.open(altered, CONTEXT), SealBroken, `bit ${bit}`)
    // A rotation must not carry it on either, but for the key id, whose change is found out when the seal is opened.
    if (sealedKeyIdOrNull(altered) !== 'k1') assert.throws(() => vault.rewrap(altered, CONTEXT), SealBroken, `bit ${bit}`)
  }
})

test('a seal that was cut anywhere, or has something added, does not open [S60]', () => {
  const vault = new EnvelopeVault(ring(key('k1')))
  const sealed = vault.seal(SECRET, CONTEXT)
  for (let length = 0; length < sealed.length; length++) broken(vault, sealed.subarray(0, length), CONTEXT, `${length} bytes`)
  broken(vault, Buffer.concat([sealed, Buffer.alloc(1)]))
})

test('tags of four bytes, of none, and of zeros are refused [S60]', () => {
  const vault = new EnvelopeVault(ring(key('k1')))
  const sealed = vault.seal('', CONTEXT)
  // An empty text: the content box is iv and tag alone, so a shorter one is a shorter tag.
  const content = sealed.length - 28
  for (const tagBytes of [0, 4, 8, 12, 15]) broken(vault, sealed.subarray(0, content + 12 + tagBytes), CONTEXT, `tag of ${tagBytes}`)
  const zeroed = Buffer.from(sealed)
  zeroed.fill(0, content + 12)
  broken(vault, zeroed)
})

test('a seal under a key that is not here names that key and nothing else', () => {
  const sealed = new EnvelopeVault(ring(key('lost'))).seal(SECRET, CONTEXT)
  const vault = new EnvelopeVault(ring(key('k1')))
  for (const work of [() => vault.open(sealed, CONTEXT), () => vault.rewrap(sealed, CONTEXT)])
    assert.throws(work, error => error instanceof SealBroken && error.message.includes('"lost"'))
})

test('another key under the same id does not open', () => {
  const sealed = new EnvelopeVault(ring(key('k1'))).seal(SECRET, CONTEXT)
  broken(new EnvelopeVault(ring(key('k1'))), sealed)
})

test('a re-wrapped seal opens with the new key alone, and its content is the same bytes', () => {
  const [old, fresh] = [key('old'), key('fresh')]
  const sealed = new EnvelopeVault(ring(old)).seal(SECRET, CONTEXT)
  const both = new EnvelopeVault(ring(fresh, old))
  const rewrapped = both.rewrap(sealed, CONTEXT)
  assert.ok(rewrapped !== null)
  assert.equal(sealedKeyId(rewrapped), 'fresh')
  assert.equal(new EnvelopeVault(ring(fresh)).open(rewrapped, CONTEXT), SECRET)
  assert.deepEqual(rewrapped.slice(-SECRET.length - 28), sealed.slice(-SECRET.length - 28))
  assert.equal(both.rewrap(rewrapped, CONTEXT), null)
})

test('no initialisation vector and no data key comes twice [S63]', () => {
  const master = key('k1')
  const vault = new EnvelopeVault(ring(master))
  const seen = new Set<string>()
  const count = 20_000
  for (let i = 0; i < count; i++)
    for (const part of randomParts(vault.seal('x', CONTEXT), master.key)) seen.add(Buffer.from(part).toString('hex'))
  assert.equal(seen.size, 3 * count)
})

test('without randomness nothing is sealed [S63]', () => {
  const vault = new EnvelopeVault(ring(key('k1')))
  const failing = mock.method(crypto, 'randomBytes', () => {
    throw new Error('no entropy')
  })
  syncBuiltinESMExports()
  try {
    assert.throws(() => vault.seal(SECRET, CONTEXT), /no entropy/)
  } finally {
    failing.mock.restore()
    syncBuiltinESMExports()
  }
  assert.equal(vault.open(vault.seal(SECRET, CONTEXT), CONTEXT), SECRET)
})

function sealedKeyIdOrNull(sealed: Uint8Array): string | null {
  try {
    return sealedKeyId(sealed)
  } catch {
    return null
  }
}
