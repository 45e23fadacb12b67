// The audit log as a file that proves itself.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { directory } from '../admin/support.ts'
import { cli } from './terminal.ts'

test('an exported chain is verified without the service, and every change of the file is reported [S81]', async context => {
  const TRUNKLINE_DATA_DIR = directory(context)
  await using cluster = await sharedPostgres()
  await using database = await createDatabase(cluster.url)
  const env = { TRUNKLINE_DATA_DIR, TRUNKLINE_DATABASE_URL: database.url }
  for (const name of ['One', 'Two', 'Three', 'Four']) await cli(env, 'platform', 'create', '--name', name, '--claim', 'off')
  const { out, code } = await cli(env, 'audit', 'export')
  assert.equal(code, 0)
  const lines = out.trimEnd().split('\n')
  assert.equal(lines.length, 4)
  const file = join(TRUNKLINE_DATA_DIR, 'export.jsonl')
  const write = (kept: readonly (string | undefined)[], path = file) => writeFileSync(path, kept.map(line => `${line}\n`).join(''))
  const verdict = async (kept: readonly (string | undefined)[], ...options: readonly string[]) => {
    write(kept)
    const { code, out, err } = await cli(env, 'audit', 'verify-export', file, ...options)
    return code === 0 ? out.replaceAll(/[0-9a-f]{64}/g, 'hash') : err.trim()
  }
  const [one, two, three, four] = lines
  assert.match(await verdict(lines), /^4 entries in an unbroken chain.\n.*after 0:hash\n and ends at +4:hash\nThis shows that/)
  assert.match(await verdict([two, three]), /^2 entries in an unbroken chain.\n.*after 1:hash\n and ends at +3:hash\n/)
  assert.match(await verdict([one, three, four]), /at entry 2: the entry is missing/)
  assert.match(await verdict([one, two?.replace('Two', 'Too'), three]), /at entry 2: .*altered/)
  assert.match(await verdict([two?.replace('Two', 'Too'), three]), /at entry 2: .*altered/, 'the first of a part')
  assert.match(await verdict([one?.replace('One', 'Oné')]), /at entry 1: .*altered/)
  assert.match(await verdict([one, 'x']), /Line 2 is not an exported entry/)
  const forgedKey = one?.replace('{', '{"entry":"{}",')
  const addedKey = two?.replace(/}$/, ',"x":1}')
  for (const spoilt of [forgedKey, addedKey, `${two} `, two?.replace('"position":2', '"position":2.0')])
    assert.match(await verdict([one, spoilt]), /Line 2 is not an exported entry/)
  for (const options of [[], ['--compare'], ['--json']]) assert.match(await verdict([], ...options), /has no entries, so it proves nothing/)

  // A forged part with recomputed hashes is refused by every comparison.
  const forged = forgedChain([two, three])
  const head = (line: string | undefined) => `${JSON.parse(String(line)).position}:${JSON.parse(String(line)).hash}`
  const earlier = join(TRUNKLINE_DATA_DIR, 'earlier.jsonl')
  write([one], earlier)
  for (const [options, why] of [
    [['--compare'], /do not agree.*entry 3: the chain up to here/],
    [['--follows', earlier], /at entry 2: it does not follow/],
    [['--kept', head(one)], /at entry 1: the hash differs/],
    [['--kept', head(three)], /at entry 3: the hash differs/]
  ] as const) {
    assert.match(await verdict(forged), /^2 entries/)
    assert.match(await verdict(forged, ...options), why)
    assert.match(await verdict([two, three], ...options), /The comparison found no difference/)
  }
  assert.match(await verdict([two, three], '--kept', head(four)), /after entry 1 to entry 3, so it cannot be compared with entry 4/)

  // Written by an older version, without `previous`.
  const old = [two, three].map(line => JSON.stringify({ ...JSON.parse(String(line)), previous: undefined }))
  assert.match(await verdict(old), /without the hash before its first entry.*--kept 1:<hash>/)
  assert.match(await verdict(old, '--kept', head(one)), /no difference/)
  assert.match(await verdict(old, '--follows', earlier), /no difference/)

  const missing = await cli({}, 'audit', 'verify-export', join(TRUNKLINE_DATA_DIR, 'no.jsonl'))
  assert.match(missing.err, /no\.jsonl cannot be read: the file does not exist\. Name a file that audit export wrote\.\n$/)
  assert.match((await cli({}, 'audit', 'verify-export', TRUNKLINE_DATA_DIR)).err, /cannot be read: it is a directory\./)
  const { at }: { readonly at: string } = JSON.parse(JSON.parse(String(three)).entry)
  assert.deepEqual((await cli(env, 'audit', 'export', '--from', at)).out.trimEnd().split('\n'), [three, four])
  assert.deepEqual((await cli(env, 'audit', 'export', '--to', at)).out.trimEnd().split('\n'), [one, two, three])
  assert.equal((await cli(env, 'audit', 'export', '--from', '2999-01-01T00:00:00Z')).out, '')
})

/** The same lines with another operator, and hashes that fit each other. */
function forgedChain(lines: readonly (string | undefined)[]): readonly string[] {
  let previous = 'ab'.repeat(32)
  return lines.map(line => {
    const { position, entry } = JSON.parse(String(line))
    const other = entry.replace('"by":"', '"by":"somebody else, not ')
    const hash = createHash('sha256').update(Buffer.from(previous, 'hex')).update(other).digest('hex')
    const text = JSON.stringify({ position, previous, entry: other, hash })
    previous = hash
    return text
  })
}
