// Binary arrays: PostgreSQL reads from them exactly what it reads from the same values written out.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseDay, parseTimestamp, type Timestamp } from '@trunkline/core/domain/timestamp'
import { type PostgresServer, sharedPostgres } from '@trunkline/testkit/postgres/index'
import fc from 'fast-check'
import pg from 'pg'
import { BinaryLists, Unencodable } from '../../src/store/writes/binary.ts'

let cluster: PostgresServer
let client: pg.Client
/** One for all tests: what is left of earlier lists must not matter. */
const lists = new BinaryLists()
before(async () => {
  cluster = await sharedPostgres()
  client = new pg.Client({ connectionString: cluster.url, options: '-c timezone=UTC' })
  await client.connect()
})
after(async () => {
  await client.end()
  await cluster.stop()
})

/** Whether PostgreSQL takes `encoded` for the same list as `values`, each written as text. */
async function assertSame(type: string, encoded: Buffer, values: readonly unknown[]): Promise<void> {
  const written = values.map(value => (value === null ? null : String(value)))
  const { rows } = await client.query(`select $1::${type}[]::text as found, $2::text[]::${type}[]::text as expected`, [encoded, written])
  assert.deepEqual(rows[0].found, rows[0].expected)
}

function listsOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<(T | null)[]> {
  return fc.array(fc.option(value, { freq: 4 }), { maxLength: 40 })
}

const instants = fc
  .record({ ms: fc.integer({ min: -62_135_596_800_000, max: Date.UTC(9999, 11, 31) }), us: fc.integer({ min: 0, max: 999 }) })
  .map(({ ms, us }) => parseTimestamp(`${new Date(ms).toISOString().slice(0, -1)}${String(us).padStart(3, '0')}Z`, 'instant'))

test('integers, booleans and ids', async () => {
  const whole = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2 ** 31 - 1, -(2 ** 31)))
  await fc.assert(fc.asyncProperty(listsOf(whole), values => assertSame('int', lists.begin().ints(values), values)))
  await fc.assert(fc.asyncProperty(fc.array(fc.boolean()), values => assertSame('boolean', lists.begin().booleans(values), values)))
  await fc.assert(fc.asyncProperty(listsOf(fc.uuid()), values => assertSame('uuid', lists.begin().uuids(values), values)))
  const upper = '0198F0C2-6C1E-7F10-8B3A-2D6F5C9E4A71'
  await assertSame('uuid', lists.begin().uuids([upper]), [upper])
})

test('texts of every script, the empty one and the odd ones', async () => {
  const storable = fc.string({ unit: 'binary', maxLength: 60 }).map(text => text.replaceAll('\0', ''))
  await fc.assert(fc.asyncProperty(listsOf(storable), values => assertSame('text', lists.begin().texts(values), values)))
  const odd = ['', 'NULL', '{}', '"', '\\', ',', 'a b', '漢字', '🙂'.repeat(5_000)]
  await assertSame('text', lists.begin().texts(odd), odd)
})

test('instants to the microsecond, and days', async () => {
  await fc.assert(fc.asyncProperty(listsOf(instants), values => assertSame('timestamptz', lists.begin().timestamps(values), values)))
  const edges = [
    '0001-01-01T00:00:00.000000Z',
    '1714-06-13T00:12:25.259007Z',
    '1999-12-31T23:59:59.999999Z',
    '2000-01-01T00:00:00.000000Z',
    '2024-02-29T12:00:00.000001Z',
    '2285-06-05T23:47:34.740993Z',
    '9999-12-31T23:59:59.999999Z'
  ].map(text => parseTimestamp(text, 'edge'))
  await assertSame('timestamptz', lists.begin().timestamps(edges), edges)
  await assertSame('timestamptz', lists.begin().timestamps([parseTimestamp('0000-12-31T23:59:59Z', 'edge')]), ['-infinity'])
  const dates = ['0001-01-01', '1999-12-31', '2000-01-01', '2024-02-29', '9999-12-31'].map(text => parseDay(text, 'day'))
  await assertSame('date', lists.begin().days([...dates, ...dates]), [...dates, ...dates])
})

test('what a type cannot hold is refused before it is sent', () => {
  for (const value of [2 ** 31, -(2 ** 31) - 1, 1.5, Number.NaN]) assert.throws(() => lists.begin().ints([1, value]), Unencodable)
  const id = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
  for (const value of ['', id.slice(1), `${id}0`, id.replace('f', 'g'), id.replace('f', '@'), id.replace('f', '/'), id.replace('f', '`')])
    assert.throws(() => lists.begin().uuids([value]), Unencodable, value)
  const wrong = ['2026-11-21', '2026-11-21T14:30:00Z', '2026-13-01T14:30:00.000000Z', '2026-11-21T1a:30:00.000000Z', 'x'.repeat(27)]
  for (const value of wrong) assert.throws(() => lists.begin().timestamps([value as Timestamp]), Unencodable, value)
})

test('the lists of one batch stay as they are however many follow, and the memory of a large batch is given back', async () => {
  const own = new BinaryLists()
  for (const size of [1, 300, 3_000_000, 5]) {
    own.begin()
    const values = ['a', 'b', 'c'].map(letter => [letter.repeat(size), null, letter])
    const given = values.map(list => own.texts(list))
    for (const [index, list] of values.entries()) await assertSame('text', given[index] ?? Buffer.alloc(0), list)
  }
  const [small] = [own.begin().ints([1])]
  assert.ok(small.buffer.byteLength <= 1024 * 1024)
})
