import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { FileNotDurable, writeDurably } from '@trunkline/files/durable'
import fc from 'fast-check'
import { BEGINNING, Cursors, mergePage, type PagePosition } from '../../src/brokerage/api/cursor.ts'
import { BrokerageClock, isoOf, microsOf } from '../../src/brokerage/clock.ts'
import { loginWire } from '../../src/brokerage/control/logins.ts'
import { ACCOUNTS_MAX, CUSTOMERS_MAX, Customers } from '../../src/brokerage/customers.ts'
import { holdFolder } from '../../src/brokerage/folder.ts'
import { Journal } from '../../src/brokerage/journal.ts'
import { GrantStore } from '../../src/brokerage/oauth/grants.ts'
import { redirectAllowed } from '../../src/brokerage/oauth/provider.ts'
import { Channel } from '../../src/brokerage/stream/channel.ts'
import { readConfig, sandboxConfig, settingsHelp } from '../../src/config.ts'

test('settings: absent ones have defaults, invalid ones are all named', () => {
  assert.equal(readConfig({}).port, 8090)
  assert.equal(readConfig({ SANDBOX_PORT: '' }).port, 8090)
  assert.equal(sandboxConfig({ seed: 'x' }).port, 0)
  assert.deepEqual(readConfig({ SANDBOX_REDIRECT_URIS: 'https://a.example/x, http://localhost/y' }).redirectUris, [
    'https://a.example/x',
    'http://localhost/y'
  ])
  assert.equal(readConfig({ SANDBOX_PUBLIC_URL: 'https://sandbox.example/' }).publicUrl, 'https://sandbox.example')
  const wrong = {
    SANDBOX_CALENDAR: 'lunar',
    SANDBOX_REDIRECT_URIS: 'javascript:alert(1)',
    SANDBOX_PUBLIC_URL: 'ftp://x',
    SANDBOX_END_WITH_STDIN: 'perhaps'
  }
  assert.throws(
    () => readConfig(wrong),
    (error: Error) => Object.keys(wrong).every(name => error.message.includes(name))
  )
  assert.match(settingsHelp(), /SANDBOX_DATA_DIR/)
})

test('sandbox time never goes back, whatever the real clock does', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({ real: fc.integer({ min: -5_000, max: 5_000 }), jump: fc.integer({ min: -1_000, max: 1_000 }), freeze: fc.boolean() })
      ),
      steps => {
        let real = 1_000_000
        const clock = new BrokerageClock({ realNow: () => real, startsAt: 0, speed: 3 })
        let last = clock.now()
        for (const { real: passed, jump, freeze } of steps) {
          real += passed
          const jumped = clock.jump(last + jump)
          if (jumped && jump > 0) assert.ok(clock.now() >= last + jump)
          clock.freeze(freeze)
          assert.ok(clock.now() >= last)
          last = clock.now()
        }
      }
    )
  )
})

test('times are read and written to the microsecond', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_102_444_800_000_000 }), at => {
      assert.equal(microsOf(isoOf(at)), at)
    })
  )
  assert.equal(microsOf('2026-11-02T09:30:00-05:00'), microsOf('2026-11-02T14:30:00.000000Z'))
  for (const text of ['', '2026-11-02', '2026-11-02T09:30:00', '2026-13-02T09:30:00Z', '2026-11-02 09:30:00Z', '1762000000'])
    assert.equal(microsOf(text), undefined, text)
})

test('pages of several merged lists: each item once, in order, for any page size', () => {
  const list = fc.uniqueArray(fc.integer({ min: 0, max: 1_000 }), { maxLength: 30 }).map(items => items.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(fc.array(list, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 9 }), (lists, limit) => {
      const cursors = new Cursors(Buffer.from('key'))
      const parts = lists.map((items, nth) => ({
        account: `a${nth}`,
        fetch: (after: string | undefined, most: number) => items.filter(item => after === undefined || item > Number(after)).slice(0, most)
      }))
      const seen: number[] = []
      let position: PagePosition | null = BEGINNING
      while (position !== null) {
        const { items, next }: { readonly items: readonly number[]; readonly next: PagePosition | null } = mergePage({
          parts,
          position,
          limit,
          idOf: String,
          before: (a, b) => a < b
        })
        seen.push(...items)
        position = next === null ? null : cursors.read(cursors.issue(next, 'q'), 'q')
      }
      assert.deepEqual(
        seen,
        lists.flat().toSorted((a, b) => a - b)
      )
    })
  )
})

test('a channel returns exactly the later events, or nothing', () => {
  const channel = new Channel()
  for (let nth = 1; nth <= 30_000; nth++) channel.add(seq => `event ${seq}`)
  assert.equal(channel.seq, 30_000)
  assert.deepEqual(channel.after(30_000), [])
  assert.deepEqual(
    channel.after(29_998)?.map(({ frame }) => frame),
    ['event 29999', 'event 30000']
  )
  assert.equal(channel.after(20_000)?.length, 10_000)
  assert.equal(channel.after(5), undefined)
  assert.equal(channel.after(30_001), undefined)
  const large = new Channel()
  for (let nth = 1; nth <= 100; nth++) large.add(() => 'x'.repeat(100_000))
  assert.ok((large.after(60)?.length ?? 0) === 40)
  assert.equal(large.after(10), undefined)
})

test('a journal: whole lines are read, a cut last one is dropped, damage in the middle is reported', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'))
  const path = join(folder, 'j.jsonl')
  const read = () => {
    const found: unknown[] = []
    new Journal<unknown>(path, entry => found.push(entry)).close()
    return found
  }
  const journal = new Journal<unknown>(path, () => undefined)
  journal.append({ a: 'é' })
  journal.append({ b: 2 })
  journal.close()
  await appendFile(path, '{"c": 3')
  assert.deepEqual(read(), [{ a: 'é' }, { b: 2 }])
  assert.equal(await readFile(path, 'utf8'), '{"a":"é"}\n{"b":2}\n')
  const again = new Journal<unknown>(path, () => undefined)
  again.rewrite([{ d: 4 }])
  again.append({ e: 5 })
  again.close()
  assert.deepEqual(read(), [{ d: 4 }, { e: 5 }])
  await writeFile(path, '{"a":1}\n{"b\n{"c":3}\n')
  assert.throws(read, /is damaged/)
  await rm(folder, { recursive: true })
})

test('a journal whose new file may not be durable continues in the new file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'))
  const path = join(folder, 'j.jsonl')
  const journal = new Journal<unknown>(
    path,
    () => undefined,
    (to, text) => {
      writeDurably(to, text)
      throw new FileNotDurable('the folder could not be synced')
    }
  )
  journal.append({ a: 1 })
  assert.throws(() => journal.rewrite([{ b: 2 }]), FileNotDurable)
  journal.append({ c: 3 })
  journal.close()
  assert.equal(await readFile(path, 'utf8'), '{"b":2}\n{"c":3}\n')
  await rm(folder, { recursive: true })
})

test('a folder is locked by a process, and not by another that later has the same id', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'held-'))
  const path = join(folder, 'house.lock')
  const release = holdFolder(folder)
  assert.throws(() => holdFolder(folder), /in use by the sandbox with process id/)
  const lock = await readFile(path, 'utf8')
  release()
  // If the system reports start times, a process with that id that started at another time, or before a reboot, is a different one.
  const isNamed = !lock.endsWith(' ')
  await writeFile(path, `${process.pid} another-boot/1`)
  if (isNamed) holdFolder(folder)()
  else assert.throws(() => holdFolder(folder), /in use/)
  // A lock of an earlier version has only the id.
  await writeFile(path, String(process.pid))
  assert.throws(() => holdFolder(folder), /in use/)
  await rm(folder, { recursive: true })
})

test('of two simultaneous starts on one folder, one gets it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'held-'))
  // Left by a killed process, so that both starts try to replace it.
  await writeFile(join(folder, 'house.lock'), '4194305 a-boot/1')
  const seconds: (() => void)[] = []
  const release = holdFolder(folder, {
    isAlive: () => {
      try {
        seconds.push(holdFolder(folder))
      } catch (error) {
        assert.match(String(error), /in use by another sandbox that is starting/)
      }
      return false
    },
    startOf: () => ''
  })
  assert.equal(seconds.length, 0, 'the second start was refused')
  assert.equal(await readFile(join(folder, 'house.lock'), 'utf8'), `${process.pid} `)
  release()
  holdFolder(folder)()
  await rm(folder, { recursive: true })
})

test('grants: expiry, the grace period of a rotated refresh token, and the bound on unfinished login flows', async () => {
  let now = 1_000_000
  let graceMs = 0
  const ended: string[] = []
  const grants = new GrantStore({ file: null, now: () => now, refreshGraceMs: () => graceMs, onEnded: grant => ended.push(grant) })
  const payload = { accountId: 'me', clientId: 'c', grantId: 'g', scope: 'read' }
  await grants.adapter('Grant').upsert('g', { accountId: 'me', clientId: 'c' }, 1_000)
  await grants.adapter('AccessToken').upsert('at', payload, 10)
  await grants.adapter('RefreshToken').upsert('rt', payload, 1_000)
  assert.deepEqual([...(grants.pass('at')?.scopes ?? [])], ['read'])
  now += 10_000
  assert.equal(grants.pass('at'), undefined)
  await grants.adapter('RefreshToken').consume('rt')
  assert.ok((await grants.adapter('RefreshToken').find('rt'))?.consumed)
  graceMs = 5_000
  now += 4_999
  assert.equal((await grants.adapter('RefreshToken').find('rt'))?.consumed, undefined)
  await grants.adapter('RefreshToken').consume('rt')
  now += 1
  assert.ok((await grants.adapter('RefreshToken').find('rt'))?.consumed)
  assert.equal(grants.endLogin('me', false), 1)
  assert.deepEqual(ended, ['g'])
  assert.equal(await grants.adapter('RefreshToken').find('rt'), undefined)
  const walks = grants.adapter('Interaction')
  for (let nth = 0; nth < 12_000; nth++) await walks.upsert(`w${nth}`, { uid: `u${nth}` }, 1_000)
  assert.equal(await walks.find('w0'), undefined)
  assert.ok(await walks.find('w11999'))
})

test('redirects: exact, any port on loopback, nothing else', () => {
  const known = ['http://127.0.0.1/cb', 'http://[::1]:80/cb', 'https://a.example/cb?x=1']
  for (const uri of ['http://127.0.0.1/cb', 'http://127.0.0.1:5/cb', 'http://[::1]:9/cb', 'https://a.example/cb?x=1'])
    assert.ok(redirectAllowed(uri, known), uri)
  for (const uri of [
    'http://127.0.0.1/cb/',
    'http://127.0.0.1/cb#x',
    'http://user@127.0.0.1/cb',
    'https://a.example/cb',
    'https://a.example:8/cb?x=1',
    '/cb',
    ''
  ])
    assert.ok(!redirectAllowed(uri, known), uri)
})

test('logins and accounts are bounded, so that an answer with all of them is below 4 MiB however long their names are', () => {
  const customers = new Customers('seed', null)
  const name = '\u{1f4b0}'.repeat(64)
  const account = { kind: 'futures', cash: '9999999999.999999999', name } as const
  const add = (username: string, accounts: number) =>
    customers.add({ username, password: 'p'.repeat(128), name, accounts: Array.from({ length: accounts }, () => account) })
  for (let made = customers.all().length; made < CUSTOMERS_MAX - 1; made += 1)
    add(String(made).padStart(64, 'u'), customers.accounts().length + 3 + (CUSTOMERS_MAX - made) > ACCOUNTS_MAX ? 1 : 3)
  const rest = ACCOUNTS_MAX - customers.accounts().length
  assert.throws(() => add('many', rest + 1), /6000 at most/)
  const { customer } = add('last', rest)
  assert.throws(() => customers.addAccount(customer, account), /6000 at most/)
  assert.throws(() => add('more', 0), /2000 logins/)
  const keys = { name: 'alpaca', keys: () => ({ key_id: 'k'.repeat(32), secret: 's'.repeat(64) }) }
  const items = customers.all().map(each => loginWire({ customers, dialects: [Object.assign(Object.create(null), keys)] }, each))
  const bytes = Buffer.byteLength(JSON.stringify({ items }))
  assert.ok(bytes < 4 * 1_024 * 1_024, String(bytes))
  customers.forgetGuests()
  add('again', 20)
})
