import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { INHERITED } from '@trunkline/testkit/short-lived'
import { OPERATIONS } from '../../src/brokerage/faults.ts'
import { type Brokerage, startBrokerage } from '../../src/brokerage/start.ts'
import { held, near, option, stage } from './contract-stage.ts'
import { bearer, Customer, control, eventually, Listener, openBrokerage, SECRET, send, tokenCall, type Wire } from './support.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

interface Folder extends AsyncDisposable {
  readonly path: string
}

async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'sandbox-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

interface Program {
  readonly brokerage: Brokerage
  readonly child: ChildProcess
  readonly ready: Wire
}

/** The sandbox as a separate process. */
async function program(env: Record<string, string>): Promise<Program> {
  const settings = { SANDBOX_PORT: '0', SANDBOX_CLIENT_SECRET: SECRET, SANDBOX_END_WITH_STDIN: '1', ...env }
  const child = spawn(process.execPath, [MAIN], { env: { ...INHERITED, ...settings }, stdio: ['pipe', 'pipe', 'pipe'] })
  const [line] = await once(child.stdout, 'data')
  const ready = JSON.parse(String(line))
  const close = async () => {
    child.kill('SIGKILL')
  }
  const brokerage: Brokerage = {
    url: ready.url,
    streamUrl: ready.stream_url,
    marketStreamUrl: ready.market_stream_url,
    controlUrl: ready.control_url,
    clientId: ready.client_id,
    clientSecret: SECRET,
    logins: ready.logins,
    close,
    [Symbol.asyncDispose]: close
  }
  return { brokerage, child, ready }
}

const same = (customer: Customer, brokerage: Brokerage): Pick<Customer, 'call'> => ({
  call: (method, path, body) => send(`${brokerage.url}/api/v1${path}`, method, body, bearer(customer.token))
})

test('state, customers and grants survive the close of a sandbox', async () => {
  await using data = await folder()
  const first = await openBrokerage({ dataDir: data.path })
  await control(first, 'POST', '/logins', { username: 'sam', accounts: [{ kind: 'margin', cash: '5000' }] })
  const [alex, sam] = [await Customer.of(first), await Customer.of(first, 'sam')]
  await alex.buy('7', { client_order_id: 'bought' })
  await alex.submit({ client_order_id: 'rests' })
  await control(first, 'POST', '/faults', { on: 'orders.submit', do: 'refuse_later', code: 'risk', times: 1 })
  await alex.submit({ client_order_id: 'refused' })
  const before = (await alex.call('GET', '/orders')).body.items
  await first.close()

  await using second = await openBrokerage({ dataDir: data.path })
  const alexAgain = same(alex, second)
  assert.deepEqual((await alexAgain.call('GET', '/orders')).body.items, before)
  assert.equal((await alexAgain.call('GET', '/positions')).body.items[0].quantity, '7')
  assert.equal((await same(sam, second).call('GET', '/balances')).body.items[0].cash, '5000.00')
  const refreshed = await tokenCall(second, { grant_type: 'refresh_token', refresh_token: alex.refreshToken })
  assert.equal(refreshed.status, 200)
  const duplicate = await alexAgain.call('POST', '/orders', {
    account: alex.account('margin'),
    symbol: 'SPY',
    direction: 'buy',
    kind: 'market',
    lifetime: 'day',
    quantity: '1',
    client_order_id: 'bought'
  })
  assert.equal(duplicate.status, 409)
})

test('a rotated or revoked refresh token stays so after a restart', async () => {
  await using data = await folder()
  const first = await openBrokerage({ dataDir: data.path })
  const [alex, robin] = [await Customer.of(first), await Customer.of(first, 'robin')]
  const rotated = (await tokenCall(first, { grant_type: 'refresh_token', refresh_token: alex.refreshToken })).body
  await tokenCall(first, { token: robin.refreshToken }, '/oauth/token/revocation')
  await first.close()
  await using second = await openBrokerage({ dataDir: data.path })
  const refresh = async (token: string) => (await tokenCall(second, { grant_type: 'refresh_token', refresh_token: token })).body
  assert.equal((await same(robin, second).call('GET', '/me')).status, 401)
  assert.equal((await refresh(robin.refreshToken)).error, 'invalid_grant')
  assert.equal((await same(alex, second).call('GET', '/me')).status, 200)
  assert.equal((await refresh(alex.refreshToken)).error, 'invalid_grant')
  assert.equal((await refresh(rotated.refresh_token)).error, 'invalid_grant')
})

test('a killed sandbox loses no acknowledged order, and begins a new epoch', async () => {
  await using data = await folder()
  const env = { SANDBOX_DATA_DIR: data.path }
  const first = await program(env)
  const alex = await Customer.of(first.brokerage)
  const stream = await Listener.of(alex)
  const acknowledged = new Set<string>()
  let sending = true
  const sender = async (name: string) => {
    for (let nth = 0; sending; nth++) {
      const id = `${name}-${nth}`
      const answer = await alex.submit({ client_order_id: id, quantity: '1', limit: '1.00' }).catch(() => undefined)
      if (answer === undefined) return
      if (answer.status === 201) acknowledged.add(id)
    }
  }
  const senders = ['a', 'b', 'c', 'd'].map(sender)
  await stream.until(() => acknowledged.size >= 200)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  sending = false
  await Promise.all(senders)

  const second = await program(env)
  const again = same(alex, second.brokerage)
  for (const id of acknowledged) assert.equal((await again.call('GET', `/orders/find?client_order_id=${id}`)).status, 200, id)
  const resumed = await Listener.open(second.brokerage)
  resumed.send({ op: 'login', token: alex.token, resume: { epoch: stream.ready.epoch, after: stream.events.at(-1)?.seq } })
  await resumed.until(messages => messages.length > 0)
  assert.notEqual(resumed.ready.epoch, stream.ready.epoch)
  assert.equal(resumed.ready.resumed, false)
  second.child.kill('SIGKILL')
  await once(second.child, 'exit')
})

test('a journal cut in its last line is read up to that line', async () => {
  await using data = await folder()
  const first = await program({ SANDBOX_DATA_DIR: data.path })
  const alex = await Customer.of(first.brokerage)
  for (const id of ['one', 'two']) await alex.submit({ client_order_id: id })
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const name = (await readdir(data.path)).find(entry => /^books\.\d+\.jsonl$/.test(entry)) ?? assert.fail('no journal')
  const path = join(data.path, name)
  await truncate(path, (await stat(path)).size - 5)
  await using second = await startBrokerage({ dataDir: data.path, clientSecret: SECRET })
  const found = async (id: string) => (await same(alex, second).call('GET', `/orders/find?client_order_id=${id}`)).status
  assert.deepEqual([await found('one'), await found('two')], [200, 404])
})

test('only one sandbox at a time has a folder, and only its owner can read the secrets', async () => {
  await using data = await folder()
  const first = await openBrokerage({ dataDir: data.path })
  await assert.rejects(startBrokerage({ dataDir: data.path }), /in use by the sandbox with process id \d+/)
  const alex = await Customer.of(first)
  assert.equal((await alex.call('GET', '/me')).status, 200)
  for (const name of await readdir(data.path)) assert.equal((await stat(join(data.path, name))).mode & 0o077, 0, name)
  await first.close()
  await using second = await startBrokerage({ dataDir: data.path })
  assert.ok(second.url)
})

test('a reset state stays reset', async () => {
  await using data = await folder()
  const first = await openBrokerage({ dataDir: data.path })
  const alex = await Customer.of(first)
  const old = (await alex.submit({ client_order_id: 'gone' })).body.order
  await control(first, 'POST', '/reset')
  const fresh = (await alex.submit({ client_order_id: 'kept' })).body.order
  assert.notEqual(fresh.id, old.id)
  await first.close()
  await using second = await openBrokerage({ dataDir: data.path })
  const { items } = (await same(alex, second).call('GET', '/orders')).body
  assert.deepEqual(
    items.map((order: Wire) => order.client_order_id),
    ['kept']
  )
})

test('the program reports when it is ready, and ends with its standard input or a signal', async () => {
  const one = await program({})
  assert.equal(one.ready.event, 'ready')
  assert.equal(one.ready.client_secret, undefined)
  assert.ok(one.ready.logins.length >= 2)
  one.child.stdin?.end()
  assert.deepEqual(await once(one.child, 'exit'), [0, null])
  const two = await program({})
  two.child.kill('SIGTERM')
  assert.deepEqual(await once(two.child, 'exit'), [0, null])
})

test('the program ends with its parent', async () => {
  const parent = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
  const { child } = await program({ SANDBOX_PARENT_PID: String(parent.pid) })
  parent.kill('SIGKILL')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})

test('the program names all invalid settings at once', async () => {
  const env = { ...INHERITED, SANDBOX_PORT: '99999', SANDBOX_MARKET: 'bazaar', SANDBOX_CLIENT_SECRET: 'short' }
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', data => {
    output += data
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 1)
  for (const name of ['SANDBOX_PORT', 'SANDBOX_MARKET', 'SANDBOX_CLIENT_SECRET']) assert.match(output, new RegExp(name))
  assert.doesNotMatch(output, /short/)
})

test('exactly the routes of the API page exist', async () => {
  const page = await readFile(new URL('../../API.md', import.meta.url), 'utf8')
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const operations = [...page.matchAll(/^\| `([a-z]+\.[a-z]+)` \| `(GET|POST|DELETE) ([^`?]+)/gm)]
  assert.deepEqual(
    operations.map(([, name]) => name),
    OPERATIONS.filter(name => name.includes('.') && name !== 'stream.connect')
  )
  for (const [, , method = '', path = ''] of operations) {
    const { body } = await alex.call(method, path.replace(/\{[^}]*\}/g, 'x'))
    assert.notEqual(body.error?.code, 'unknown_route', `${method} ${path}`)
  }
  const { routes } = await control(brokerage, 'GET', '/')
  const section = page.slice(page.indexOf('## Control API'))
  const listed = [...section.matchAll(/`(GET|POST|PUT|DELETE) (\/[^`?]*)[^`]*`/g)].map(
    ([, method, path]) => `${method} ${path?.replace(/\{[^}]*\}/g, ':id')}`
  )
  assert.deepEqual([...new Set(listed)].filter(route => route !== 'GET /').toSorted(), routes.toSorted())
})

test('a valid request id is echoed, otherwise one is generated', async () => {
  await using brokerage = await openBrokerage()
  const alex = await Customer.of(brokerage)
  const idOf = async (id: string) =>
    (await send(`${brokerage.url}/api/v1/me`, 'GET', undefined, { ...bearer(alex.token), 'x-request-id': id })).headers.get('x-request-id')
  assert.equal(await idOf('my-id_1.2'), 'my-id_1.2')
  for (const id of ['a b', 'x'.repeat(65), '<script>']) assert.match(String(await idOf(id)), /^[A-Za-z0-9_-]+$/)
})

test('a state from before options opens, and its customers may trade them', async () => {
  await using data = await folder()
  const old = new URL('fixtures/books-before-options/', import.meta.url)
  for (const [from, to] of [
    ['books.txt', 'books.json'],
    ['journal.txt', 'books.3.jsonl'],
    ['people.txt', 'people.jsonl']
  ] as const)
    await copyFile(new URL(from, old), join(data.path, to))
  const trade = async () => {
    await using brokerage = await openBrokerage({ dataDir: data.path, seed: 'old' })
    const { alex, calls } = await stage(brokerage)
    assert.deepEqual(
      alex.accounts.map(({ kind }) => kind),
      ['margin', 'cash', 'coin', 'futures']
    )
    const orders = (await alex.call('GET', '/orders?symbol=SPY')).body.items
    assert.deepEqual(orders.map(({ state }: Wire) => state).sort(), ['done', 'done', 'open', 'open'])
    const { s: symbol } = near(calls, 500)
    assert.equal((await option(alex, symbol, { quantity: '1' })).body.order.state, 'done')
    const [month] = (await alex.call('GET', '/instruments?class=future&search=ES')).body.items
    const future = { symbol: month.symbol, account: alex.account('futures'), kind: 'market', lifetime: 'day', limit: null, quantity: '1' }
    assert.equal((await alex.submit(future)).body.order.state, 'done')
    return await held(alex)
  }
  const first = await trade()
  assert.equal(first.SPY, '10')
  assert.deepEqual(Object.values(await trade()).sort(), ['10', '2', '2'])
})

test('options and multi-leg orders survive a killed sandbox, and contracts that expired meanwhile are settled at the start', async () => {
  await using data = await folder()
  const settings = { SANDBOX_DATA_DIR: data.path, SANDBOX_PORT: '0' }
  const first = await program(settings)
  const { alex, calls } = await stage(first.brokerage)
  const symbol = near(calls, 500).s
  assert.equal((await option(alex, symbol, { quantity: '1' })).body.order.state, 'done')
  const { instrument } = (await alex.call('GET', `/instruments/${symbol}`)).body
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const second = await program(settings)
  const again = await Customer.of(second.brokerage)
  assert.deepEqual(await held(again), { [symbol]: '1' })
  const quote = (await again.call('GET', `/quotes?symbols=${symbol}`)).body.items[0]
  assert.ok(Number(quote.ask) > 0)
  second.child.kill('SIGKILL')
  await once(second.child, 'exit')
  const later = Date.parse(instrument.option.last_trade) + 3_600_000
  await using third = await startBrokerage({ dataDir: data.path, clientSecret: SECRET }, { realNow: () => later })
  const late = await Customer.of(third)
  await eventually(
    () => held(late),
    positions => positions[symbol] === undefined
  )
})
