// The audit log: complete, and every change is noticed.
import assert from 'node:assert/strict'
import type { Store } from '@trunkline/core/ports/store'
import type { DefineCase, SqlHarness } from './harness.ts'
import * as make from './records.ts'

export function auditCases(contractCase: DefineCase): void {
  contractCase('X10', 'an entry comes back as it was, before and after it is sealed', async ({ store }) => {
    const entry = { ...make.audit('test.rich', { b: 'zoë "x" \0 🙂', a: -1.5, c: true, d: null }), ip: null, requestId: null }
    await store.audit.append(entry)
    const [pending] = await store.audit.list(1)
    assert.deepEqual(pending, { ...entry, position: null })
    await sealAll(store)
    const [sealed] = await store.audit.list(1)
    assert.ok(sealed !== undefined && sealed.position !== null)
    assert.deepEqual({ ...sealed, position: null }, { ...entry, position: null })
  })

  contractCase('X20', 'sealers and writers at once seal every entry once', async harness => {
    const { store } = harness
    await sealAll(store)
    const before = (await store.audit.verify()).entries
    const entries = Array.from({ length: 60 }, (_, index) => make.audit('test.many', { index }))
    const written = entries.map(entry => store.audit.append(entry))
    const sealing = Array.from({ length: 6 }, () => store.audit.seal(7))
    await Promise.all([...written, ...sealing])
    await sealAll(store)
    assert.equal(await store.audit.seal(100), 0)
    assert.deepEqual(await brokenIn(store), null)
    assert.equal((await store.audit.verify()).entries, before + 60)
    const listed = (await store.audit.list(60)).map(({ target }) => target)
    assert.deepEqual([...listed].sort(), entries.map(({ target }) => target).sort())
  })

  contractCase('X30', 'a refused write leaves no entry', async ({ store }) => {
    const { user } = await make.owner(store)
    const entry = make.audit('user.create')
    assert.equal(await store.users.create(user, make.hash(), entry), false)
    assert.ok(!(await store.audit.list(50)).some(({ target }) => target === entry.target))
  })

  contractCase.sql('X40', 'an altered, removed, swapped, cut off or added entry is named [S81]', async harness => {
    const { store } = harness
    for (let index = 0; index < 5; index += 1) await store.audit.append(make.audit('test.chain', { index }))
    await sealAll(store)
    const { entries: end } = await store.audit.verify()
    const at = end - 2
    const tampered = async (tampering: string, parameters: readonly unknown[]) => {
      const rows = await harness.sql('select position, entry, hash from audit_log where position >= $1 order by position', [at])
      await unguarded(harness, () => harness.sql(tampering, parameters))
      const broken = await brokenIn(store)
      await unguarded(harness, async () => {
        await harness.sql('delete from audit_log where position >= $1', [at])
        for (const row of rows) await harness.sql('insert into audit_log (position, entry, hash) values ($1, $2, $3)', Object.values(row))
      })
      assert.equal(await brokenIn(store), null, 'the log was put back')
      return broken
    }
    assert.equal(await tampered(`update audit_log set entry = replace(entry, 'ok', 'no') where position = $1`, [at]), at)
    assert.equal(await tampered(`update audit_log set hash = sha256('x') where position = $1`, [at]), at)
    assert.equal(await tampered('delete from audit_log where position = $1', [at]), at)
    assert.equal(await tampered('delete from audit_log where position >= $1', [end]), end)
    assert.equal(await tampered(SWAP, [at]), at)
    assert.equal(
      await tampered(
        `insert into audit_log (position, entry, hash) select $1::bigint + 1, entry, hash from audit_log where position = $1`,
        [end]
      ),
      end + 1
    )
  })

  contractCase.sql('X50', 'the database itself refuses to change a sealed entry [S81]', async harness => {
    await harness.store.audit.append(make.audit())
    await sealAll(harness.store)
    for (const change of [`update audit_log set entry = '{}'`, 'delete from audit_log', 'truncate audit_log'])
      await assert.rejects(harness.sql(change), /append-only/)
  })
}

// Swaps the entry with its neighbour, including their hashes.
const SWAP = `update audit_log a set entry = b.entry, hash = b.hash from audit_log b
  where a.position + b.position = 2 * $1::bigint + 1 and abs(a.position - b.position) = 1`

async function sealAll(store: Store): Promise<void> {
  while ((await store.audit.seal(1_000)) > 0);
}

async function brokenIn(store: Store): Promise<number | null> {
  return (await store.audit.verify()).broken?.position ?? null
}

/** Runs `tamper` as an owner of the table can. */
async function unguarded(harness: SqlHarness, tamper: () => Promise<unknown>): Promise<void> {
  await harness.sql('alter table audit_log disable trigger user')
  try {
    await tamper()
  } finally {
    await harness.sql('alter table audit_log enable trigger user')
  }
}
