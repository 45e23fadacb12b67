// Tests of operators' commands, executed by a running service or by the command line itself.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { AdminChannel } from '../../src/admin/channel.ts'
import { openStore, type SqlStore } from '../../src/store/index.ts'
import { adminOver, clock, directory, embedded, hasher, ids, keysIn, quiet } from '../admin/support.ts'
import { answerOf, cli } from './terminal.ts'

/** A data directory. With a running service it has an embedded database; otherwise an unused database on PostgreSQL. */
export async function installed(context: TestContext, isRunning: boolean) {
  const dataDir = directory(context)
  const env = { TRUNKLINE_DATA_DIR: dataDir }
  if (!isRunning) {
    // Each command opens the database itself, which takes more than a second with the embedded one.
    const cluster = await sharedPostgres()
    const database = await createDatabase(cluster.url)
    context.after(async () => {
      await database.drop()
      await cluster.stop()
    })
    keysIn(dataDir)
    return { dataDir, env: { ...env, TRUNKLINE_DATABASE_URL: database.url }, url: database.url, store: null, keys: null }
  }
  const store = await embedded(context, dataDir)
  const keys = keysIn(dataDir)
  const channel = new AdminChannel(adminOver(store, keys), { dataDir, log: quiet })
  context.after(() => channel.stop())
  await channel.start()
  return { dataDir, env, url: null, store, keys }
}

/** The tests for both ways of execution. */
export function operatorCommands(isRunning: boolean): void {
  const by = isRunning ? 'by the running service' : 'by the command itself'

  test(`a platform is created, listed and given a new secret ${by}`, async context => {
    const { env, url, store } = await installed(context, isRunning)
    const created = await cli(
      env,
      'platform',
      'create',
      '--claim',
      'on',
      '--name',
      'My app',
      '--redirect',
      'https://a.example/x',
      '--redirect',
      'http://localhost:1/y',
      '--json'
    )
    assert.equal(created.code, 0, created.err)
    const { client_id, client_secret, platform_id, redirects, claims } = answerOf(created)
    assert.equal(claims, true)
    assert.deepEqual(redirects, ['https://a.example/x', 'http://localhost:1/y'])
    const list = await cli(env, 'platform', 'list')
    assert.ok(list.out.includes(client_id) && list.out.includes('My app'))
    assert.ok(!list.out.includes('sk_'))

    const rotated = await cli(env, 'platform', 'rotate-secret', client_id)
    const [secret] = /sk_[\w-]{43}/.exec(rotated.out) ?? []
    assert.ok(secret !== undefined && secret !== client_secret)
    assert.match(rotated.out, /shown only this once/)
    assert.ok(store !== null || url !== null)
    const open = store ?? (await openStore({ kind: 'postgres', url, poolMax: 2 }, { clock, ids, log: quiet }))
    assert.equal((await open.platforms.findByClientId(client_id))?.secretHash, hasher.hash(secret))
    if (store === null) await open[Symbol.asyncDispose]()

    const unknown = await cli(env, 'platform', 'rotate-secret', 'pk_nobody')
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /There is no key "pk_nobody"/)
    const log = answerOf(await cli(env, 'audit', 'list', '--json'))
    const actions = log.map((line: { action: string; target: string; actor: string }) => `${line.actor} ${line.action} ${line.target}`)
    assert.deepEqual(actions, [`operator platform.rotate_secret ${platform_id}`, `operator platform.create ${platform_id}`])
  })

  test(`a platform's name, colour and address are set and changed ${by}, and invalid values are refused`, async context => {
    const { env } = await installed(context, isRunning)
    const look = ['--color', '#D9480F', '--app-url', 'https://app.example.com']
    const made = answerOf(await cli(env, 'platform', 'create', '--claim', 'off', '--name', 'App', ...look, '--json'))
    assert.deepEqual([made.color, made.app_url], ['#d9480f', 'https://app.example.com'])
    const edit = async (...args: readonly string[]) => answerOf(await cli(env, 'platform', 'edit', made.client_id, ...args, '--json'))
    const shown = ({ name, color, app_url }: Readonly<Record<string, unknown>>) => [name, color, app_url]
    assert.deepEqual(shown(await edit('--name', 'Other')), ['Other', '#d9480f', 'https://app.example.com'])
    assert.deepEqual(shown(await edit('--color', 'none', '--app-url', 'none')), ['Other', null, null])
    assert.deepEqual(shown(await edit('--color', '#fff')), ['Other', '#ffffff', null])
    assert.match((await cli(env, 'platform', 'edit', made.client_id)).out, /#ffffff, with black letters/)
    for (const [args, why] of [
      [['--color', 'red'], /a colour such as #0b5cad/],
      [['--app-url', 'http://app.example.com'], /app_url must use https/],
      [['--app-url', 'javascript:alert(1)'], /app_url must be an absolute https address/],
      [['--name', 'x'.repeat(101)], /name must be 1 to 100 printable characters/],
      [['--name', 'a\u202eb'], /name must be 1 to 100 printable characters/]
    ] as const) {
      const refused = await cli(env, 'platform', 'edit', made.client_id, ...args)
      assert.equal(refused.code, 1)
      assert.match(refused.err, why)
    }
    assert.match((await cli(env, 'platform', 'edit', 'pk_nobody', '--name', 'x')).err, /There is no platform/)
    const [listed] = answerOf(await cli(env, 'platform', 'list', '--json'))
    assert.deepEqual(shown(listed), ['Other', '#ffffff', null])
    const log = answerOf(await cli(env, 'audit', 'list', '--json'))
    const edits = log.filter(({ action }: { action: string }) => action === 'platform.edit')
    assert.deepEqual(
      edits.map(({ detail: { by, ...change } }: { detail: { by: string } }) => change),
      [{ color: '#ffffff' }, { color: null, appUrl: null }, { name: 'Other' }]
    )
  })

  test(`the audit log is verified, also against a stored chain head, ${by}`, async context => {
    const { env } = await installed(context, isRunning)
    for (const name of ['One', 'Two']) await cli(env, 'platform', 'create', '--claim', 'off', '--name', name)
    const first = await cli(env, 'audit', 'verify')
    assert.equal(first.code, 0)
    assert.match(first.out, /^2 entries, all unaltered/)
    const [kept] = /\d+:[0-9a-f]{64}/.exec(first.out) ?? []
    assert.ok(kept !== undefined)
    await cli(env, 'platform', 'create', '--claim', 'off', '--name', 'Three')
    assert.equal((await cli(env, 'audit', 'verify', '--kept', kept)).code, 0)
    const forged = await cli(
      env,
      'audit',
      'verify',
      '--kept',
      kept.replace(/.$/, last => (last === '0' ? '1' : '0'))
    )
    assert.equal(forged.code, 1)
    assert.match(forged.err, /tampered with at entry 2/)
    const cut = await cli(env, 'audit', 'verify', '--kept', `9:${'a'.repeat(64)}`)
    assert.equal(cut.code, 1)
  })

  test(`webhook endpoints are created, listed, changed and given new keys ${by}`, async context => {
    const { env } = await installed(context, isRunning)
    const { client_id: platform } = answerOf(await cli(env, 'platform', 'create', '--claim', 'off', '--name', 'App', '--json'))
    const webhook = (...args: readonly string[]) => cli(env, 'webhook', ...args, '--platform', platform)
    assert.match((await webhook('list')).out, /no webhook endpoint/)
    const where = ['--url', 'https://hooks.example.com/in?token=of-the-platform']
    const created = await webhook(
      'create',
      ...where,
      '--description',
      'books\u009b31m',
      '--topic',
      'orders',
      '--status',
      'filled',
      '--json'
    )
    assert.equal(created.code, 1)
    assert.match(created.err, /description must be/)
    const made = answerOf(await webhook('create', ...where, '--description', 'books', '--topic', 'orders', '--status', 'filled', '--json'))
    assert.deepEqual([made.topics, made.order_statuses, made.description], [['orders'], ['filled'], 'books'])
    const rotated = await webhook('rotate', made.endpoint_id, '--overlap', '0')
    const [secret] = /whsec_\S+/.exec(rotated.out) ?? []
    assert.ok(secret !== undefined && secret !== made.secret)
    assert.match(rotated.out, /sign no more/)
    assert.match((await webhook('disable', made.endpoint_id)).out, /is disabled/)
    const listed = await webhook('list')
    assert.match(listed.out, new RegExp(`${made.endpoint_id} +requested +never +- +- +hooks.example.com +books`))
    assert.ok(!listed.out.includes('whsec_') && !listed.out.includes('of-the-platform'))
    assert.equal(answerOf(await webhook('enable', made.endpoint_id, '--json')).disabled_at, null)
    assert.match((await webhook('deliveries', made.endpoint_id)).out, /no such attempts/)
    const tested = await webhook('test', made.endpoint_id)
    assert.equal(tested.code, 1)
    assert.match(tested.err, /Start it, and run this again/)
    for (const args of [['list'], ['replay', made.endpoint_id, '--platform', platform, '--user', 'ada'], ['create', ...where]])
      assert.equal((await cli(env, 'webhook', ...args)).code, 2, args.join(' '))
  })

  test(`orders of unknown outcome are listed ${by}, and only a service ends one`, async context => {
    const { env, store } = await installed(context, isRunning)
    const listed = await cli(env, 'orders', 'unresolved')
    assert.deepEqual([listed.code, listed.out], [0, 'There are no unresolved orders. No order was abandoned in the last 30 days.\n'])
    const orderId = '01a1fc40-bac8-7000-9fad-169d6cee0b61'
    if (store !== null) await listsAbandoned(env, store, orderId)
    const settled = await cli(env, 'orders', 'never-received', orderId, '--because', 'seen')
    assert.equal(settled.code, 1)
    assert.match(settled.err, /Start it, and run this again/)
    const nonsense = await cli(env, 'orders', 'never-received', 'the-first', '--because', 'seen')
    assert.equal(nonsense.code, 1)
    assert.match(nonsense.err, /order_id must be/)
  })

  test(`keys are rotated and listed ${by}`, async context => {
    const { env, dataDir } = await installed(context, isRunning)
    const before = keysIn(dataDir).ring.current().id
    const rotated = await cli(env, 'keys', 'rotate')
    assert.equal(rotated.code, 0, rotated.err)
    const fresh = keysIn(dataDir).ring.current().id
    assert.ok(rotated.out.includes(`Master key ${fresh} was added and is current.`))
    assert.match(rotated.out, /keys rotate --retire/)
    const status = await cli(env, 'keys', 'status')
    assert.match(status.out, new RegExp(`${fresh}\\s+current\\s+0\\n${before}\\s+old\\s+0`))
    const early = await cli(env, 'keys', 'rotate', '--retire')
    assert.equal(early.code, 0)
    assert.match(early.out, /old keys stay until/)
    const retired = await cli(env, 'keys', 'rotate', '--retire', '--now')
    assert.match(retired.out, new RegExp(`Old keys removed: ${before}`))
    assert.deepEqual(keysIn(dataDir).ring.ids(), [fresh])
  })
}

/** Checks the list with an order whose connection was removed before the broker reported its outcome. */
async function listsAbandoned(env: Readonly<Record<string, string>>, store: SqlStore, orderId: string): Promise<void> {
  const order = {
    side: 'BUY',
    quantity: '10',
    notional: null,
    symbol: 'SPY',
    type: 'LMT',
    limit_price: '9.50',
    stop_price: null,
    tif: 'DAY'
  }
  const whose = { broker: 'TRADIER', account_number: 'A-7', broker_order_id: null, broker_cl_ord_id: 'tl-77', cl_order_id: 'c-1' }
  const detail = { ...order, ...whose, submission: 'unknown', pending_request: 'cancel' }
  const facts = { actor: 'operator', action: 'order.abandoned', target: orderId, result: 'ok', ip: null, requestId: null } as const
  await store.audit.append({ ...facts, at: clock.now(), detail })
  const { out } = await cli(env, 'orders', 'unresolved')
  assert.match(out, /^Abandoned: .* Look for each one by its ids in the account at the broker/)
  assert.match(out, new RegExp(`${orderId} .*unknown +cancel +TRADIER +A-7 +- +tl-77 +BUY 10 SPY LMT 9.50 DAY`))
  const [listed] = answerOf(await cli(env, 'orders', 'unresolved', '--json'))
  assert.deepEqual([listed.order_id, listed.is_abandoned, listed.account_number], [orderId, true, 'A-7'])
}
