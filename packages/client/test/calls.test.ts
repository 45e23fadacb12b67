// What every call has: attempts, waits, ends, request ids, hooks, errors, and secrets that stay inside.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { type RequestNotice, Trunkline, TrunklineError } from '../src/index.ts'
import { ACCOUNT, answer, broken, errorOf, problem, SECRETS, type Step, script, ticket } from './scripted.ts'

describe('reads', () => {
  test('are sent again with full jitter, and wait as long as the service asks', async () => {
    const page: Step = () => new Response('<html>', { status: 403 })
    const run = script([broken(), problem(503, 'broker_unavailable', {}, { 'retry-after': '5' }), page, answer([])])
    assert.deepEqual(await run.user.accounts.list(), [])
    assert.deepEqual(run.waits, [125, 5_250, 500])
  })

  test('end after so many attempts with the last error', async () => {
    const run = script([broken(), broken(), problem(500, 'internal')], { retries: 2 })
    const { code, status, retrySafe } = await errorOf(run.user.accounts.list())
    assert.deepEqual([code, status, retrySafe], ['internal', 500, true])
  })

  test('end when the whole time would be over', async () => {
    const run = script([problem(429, 'rate_limited', {}, { 'retry-after': '60' })])
    const { code, retryAfterMs } = await errorOf(run.user.accounts.list({}, { totalTimeoutMs: 59_000 }))
    assert.deepEqual([code, retryAfterMs, run.waits.length], ['rate_limited', 60_000, 0])
  })

  test('are not repeated after a refusal or a redirect', async () => {
    const steps: readonly (readonly [Step, string])[] = [
      [problem(404, 'account_not_found'), 'account_not_found'],
      [() => new Response(null, { status: 302, headers: { location: 'https://elsewhere.example' } }), 'answer_unreadable'],
      // As a browser hides it.
      [() => Object.defineProperty(new Response(), 'status', { value: 0 }), 'answer_unreadable'],
      [problem(400, 'a_code_of_later_versions'), 'a_code_of_later_versions']
    ]
    for (const [step, code] of steps) assert.equal((await errorOf(script([step]).user.accounts.list())).code, code)
  })

  test('refuse what is no list, no record, or too long', async () => {
    const long = () =>
      new Response(
        new ReadableStream({
          pull: controller => controller.enqueue(new Uint8Array(2 ** 22))
        })
      )
    for (const step of [answer({}), answer('text'), answer(null), answer([null]), long]) {
      assert.equal((await errorOf(script([step]).user.accounts.list({}, { retries: 0 }))).code, 'answer_unreadable')
    }
  })

  test('end at once by the caller’s signal, in a request as in a wait', async () => {
    const control = new AbortController()
    const deaf = script([() => new Promise(() => control.abort())])
    assert.equal((await errorOf(deaf.user.accounts.list({}, { signal: control.signal }))).code, 'aborted')
    const waiting = new AbortController()
    const run = script([broken()], { sleep: async () => waiting.abort() })
    assert.equal((await errorOf(run.user.accounts.list({}, { signal: waiting.signal }))).code, 'aborted')
  })

  test('can have any time', async () => {
    for (const ms of [1_000.5, Number.POSITIVE_INFINITY]) {
      assert.deepEqual(await script([answer([])]).user.accounts.list({}, { timeoutMs: ms, totalTimeoutMs: ms }), [])
    }
  })

  test('cannot have a time or an id that is none', async () => {
    const wrong = [{ timeoutMs: Number.NaN }, { totalTimeoutMs: Number.NaN }, { timeoutMs: -1 }, { retries: Number.NaN }]
    for (const options of [...wrong, { requestId: 'two\nlines' }, { requestId: '-' }, { requestId: 'x'.repeat(61) }]) {
      const { code, nothingDone, clOrderId } = await errorOf(script([]).user.orders.place(ticket, options))
      assert.deepEqual([code, nothingDone, clOrderId], ['setting_invalid', true, 'rebalance-1'], JSON.stringify(options))
    }
  })

  test('leave nothing with the signal of the caller', async () => {
    const control = new AbortController()
    const run = script([answer([]), broken(), problem(404, 'account_not_found')])
    for (let count = 0; count < 3; count += 1)
      await run.user.accounts.list({}, { signal: control.signal, retries: 0 }).catch(() => undefined)
    assert.equal(getEventListeners(control.signal, 'abort').length, 0)
    // Each request is over, with all that listened for its end.
    assert.deepEqual(
      run.sent.map(({ signal }) => signal?.aborted),
      [true, true, true]
    )
  })

  test('reject once when the fetch throws at once', async t => {
    const rejected: unknown[] = []
    const note = (cause: unknown) => rejected.push(cause)
    process.on('unhandledRejection', note)
    t.after(() => process.off('unhandledRejection', note))
    const atOnce = (): never => {
      throw new TypeError('no')
    }
    const run = script([], { fetch: atOnce })
    const control = new AbortController()
    assert.equal((await errorOf(run.user.accounts.list({}, { retries: 0, signal: control.signal }))).code, 'connection_failed')
    control.abort()
    await setImmediate()
    await setImmediate()
    assert.deepEqual(rejected, [])
  })

  test('wait no longer than a timer can', async () => {
    const run = script([problem(429, 'rate_limited', {}, { 'retry-after': '2592000' }), answer([])])
    await run.user.accounts.list({}, { totalTimeoutMs: Number.POSITIVE_INFINITY })
    assert.deepEqual(run.waits, [2 ** 31 - 1])
    const before = script([problem(429, 'rate_limited', {}, { 'retry-after': '-5' }), answer([])])
    await before.user.accounts.list()
    assert.deepEqual(before.waits, [125])
  })

  test('end when there is no whole answer in time', async () => {
    const never: Step = () => new Promise(() => undefined)
    const half: Step = () => new Response(new ReadableStream({ start: controller => controller.enqueue(new Uint8Array([91])) }))
    for (const step of [never, half]) {
      const { code, retrySafe } = await errorOf(script([step]).user.accounts.list({}, { timeoutMs: 5, retries: 0 }))
      assert.deepEqual([code, retrySafe], ['timed_out', true])
    }
  })
})

describe('requests', () => {
  test('have an id, and each attempt its number', async () => {
    const run = script([broken(), answer([])])
    await run.user.accounts.list({}, { requestId: 'tuesday' })
    assert.deepEqual(
      run.sent.map(({ headers }) => headers.get('x-request-id')),
      ['tuesday.1', 'tuesday.2']
    )
    const own = script([broken()])
    assert.match((await errorOf(own.user.accounts.list({}, { retries: 0 }))).requestId ?? '', /^[0-9a-f]{32}\.1$/)
  })

  test('name their parameters encoded, and cannot leave their path', async () => {
    const run = script([answer({ symbol: 'BTC/USD' }), answer({ user_id: 'a/b' }, 200)])
    await run.user.marketData.quote({ connection_id: ACCOUNT, symbol: 'BTC/USD' })
    await run.trunkline.users.delete({ user_id: 'a/b' })
    assert.equal(run.sent[0]?.url.search, '?symbol=BTC%2FUSD')
    assert.equal(run.sent[1]?.url.pathname, '/users/a%2Fb')
    for (const user_id of ['..', '.', ''])
      assert.equal((await errorOf(script([]).trunkline.users.delete({ user_id }))).code, 'setting_invalid')
    // Half of a character.
    const half = await errorOf(script([]).trunkline.users.delete({ user_id: '\ud800' }))
    assert.deepEqual([half.code, half.nothingDone], ['setting_invalid', true])
  })

  test('carry a user id of any letters as UTF-8', async () => {
    const run = script([answer([])])
    await run.trunkline.user({ userId: 'Zoë', userSecret: 'us_1' }).accounts.list()
    assert.equal(Buffer.from(run.sent[0]?.headers.get('user-id') ?? '', 'latin1').toString(), 'Zoë')
  })

  test('go only to https, or to this machine', () => {
    const make = (baseUrl: string, allowHttp = false) => new Trunkline({ baseUrl, clientId: 'a', clientSecret: 'b', allowHttp })
    for (const url of [
      'http://trunkline.example',
      'ftp://127.0.0.1',
      'nothing',
      'https://u:p@trunkline.example',
      'https://a.example/?x=1'
    ]) {
      assert.throws(() => make(url), { code: 'setting_invalid' })
    }
    for (const url of ['http://127.0.0.1:8080', 'http://localhost', 'http://[::1]:1', 'https://trunkline.example/behind/']) make(url)
    make('http://trunkline.example', true)
  })

  test('are seen by hooks, which cannot break a call', async () => {
    const seen: string[] = []
    const note = (what: string) => async (notice: Partial<RequestNotice>) => {
      seen.push(`${what} ${notice.attempt}`)
      assert.ok(!inspect(notice, { depth: 9 }).includes('secret-of'))
      throw new Error('a hook that fails')
    }
    const hooks = {
      onRequest: () => {
        throw new Error('at once')
      },
      onResponse: note('response'),
      onRetry: note('retry')
    }
    const run = script([problem(500, 'internal'), answer([])], { hooks })
    assert.deepEqual(await run.user.accounts.list(), [])
    assert.deepEqual(seen, ['response 1', 'retry 1', 'response 2'])
  })

  test('give what came with the record', async () => {
    const freshness = `"${ACCOUNT}";confirmed="2026-11-21T14:30:00.123456Z";state=live, "b";state=unavailable;reason=connection_broken, *;more=3;state=stale`
    const headers = {
      'x-request-id': 'r1',
      'trunkline-freshness': freshness,
      'ratelimit-limit': '400',
      'ratelimit-remaining': '7',
      'ratelimit-reset': '1'
    }
    const { data, meta } = await script([answer([], 200, headers)])
      .user.balances.list()
      .withMeta()
    assert.deepEqual([data, meta.requestId, meta.rateLimit], [[], 'r1', { limit: 400, remaining: 7, resetSeconds: 1 }])
    assert.deepEqual(meta.freshness, [
      { accountId: ACCOUNT, confirmed: '2026-11-21T14:30:00.123456Z', state: 'live', reason: null, more: 0 },
      { accountId: 'b', confirmed: null, state: 'unavailable', reason: 'connection_broken', more: 0 },
      { accountId: '*', confirmed: null, state: 'stale', reason: null, more: 3 }
    ])
  })

  test('that fail are reported once to whom awaits what came with the record', async () => {
    assert.equal(
      (
        await errorOf(
          script([problem(404, 'account_not_found')])
            .user.balances.list()
            .withMeta()
        )
      ).code,
      'account_not_found'
    )
  })
})

describe('secrets', () => {
  const hidden = (value: unknown) => {
    const texts = [
      inspect(value, { depth: 20, showHidden: true, getters: true }),
      JSON.stringify(value),
      String(value),
      Object(value).stack
    ]
    for (const text of texts) for (const secret of Object.values(SECRETS)) assert.ok(!text?.includes(secret), text)
  }

  test('are not in the client, however it is printed', () => {
    const run = script([])
    hidden(run.trunkline)
    hidden(run.user)
  })

  test('are in no error, whatever the service or a fetch quotes', async () => {
    const quoting = { message: `Bad ${SECRETS.clientSecret}`, details: [{ path: 'x', message: SECRETS.userSecret }] }
    const escaped = JSON.stringify({ code: 'field_invalid', message: SECRETS.userSecret, request_id: 'r' }).replace('us_t', 'us_\\u0074')
    const steps: readonly Step[] = [
      problem(401, 'credentials_invalid', quoting),
      problem(400, 'field_invalid', { details: [{ path: 'x', message: 'y', sent: SECRETS.userSecret }, 1] }),
      () => new Response(escaped, { status: 400, headers: { 'content-type': 'application/json', 'x-request-id': 'r' } }),
      () => {
        throw new Error(`no connection with ${SECRETS.userSecret}`, { cause: new Error(SECRETS.clientSecret) })
      }
    ]
    for (const step of steps) hidden(await errorOf(script([step]).user.accounts.list({}, { retries: 0 })))
    hidden(await errorOf(script([broken()]).user.orders.cancel({ account_id: ACCOUNT, order_id: ACCOUNT }, { retries: 0 })))
  })

  test('that cannot be a header are not quoted', () => {
    const bad = `${SECRETS.clientSecret}\n`
    assert.throws(
      () => new Trunkline({ baseUrl: 'https://a.example', clientId: 'a', clientSecret: bad }),
      error => {
        hidden(error)
        return error instanceof TrunklineError && error.code === 'setting_invalid'
      }
    )
  })
})

describe('what is not repeated blindly', () => {
  test('a user whose secret was lost with the answer', async () => {
    const run = script([broken(), problem(409, 'user_exists')])
    assert.equal((await errorOf(run.trunkline.users.create({ user_id: 'ada' }))).code, 'user_secret_lost')
    assert.equal((await errorOf(script([problem(409, 'user_exists')]).trunkline.users.create({ user_id: 'ada' }))).code, 'user_exists')
  })

  test('a new secret', async () => {
    const { code, retrySafe } = await errorOf(script([broken()]).trunkline.users.rotateSecret({ user_id: 'ada' }))
    assert.deepEqual([code, retrySafe], ['connection_failed', false])
    const run = script([problem(503, 'store_unavailable'), answer({ user_id: 'ada', 'user-secret': 'us_2' })])
    assert.equal((await run.trunkline.users.rotateSecret({ user_id: 'ada' }))['user-secret'], 'us_2')
  })

  test('a webhook endpoint, of which a second one would receive everything again', async () => {
    const run = script([broken(), answer({ endpoint_id: ACCOUNT }, 201)])
    const { code, retrySafe } = await errorOf(run.trunkline.webhookEndpoints.create({ url: 'https://hooks.example.com/' }))
    assert.deepEqual([code, retrySafe], ['connection_failed', false])
  })

  test('what is gone, or claimed, after a lost answer is done', async () => {
    const users = script([broken(), problem(400, 'user_not_found')])
    assert.deepEqual(await users.trunkline.users.delete({ user_id: 'ada' }), { user_id: 'ada' })
    const gone = script([broken(), problem(404, 'connection_not_found')])
    assert.deepEqual(await gone.user.connections.delete({ connection_id: ACCOUNT }), { connection_id: ACCOUNT })
    const claimed = script([broken(), problem(409, 'connection_claimed'), answer([{ connection_id: ACCOUNT, status: 'ACTIVE' }])])
    assert.equal((await claimed.user.connections.claim({ connection_id: ACCOUNT, claim_code: 'c' })).status, 'ACTIVE')
    const first = script([problem(409, 'connection_claimed')])
    assert.equal((await errorOf(first.user.connections.claim({ connection_id: ACCOUNT, claim_code: 'c' }))).code, 'connection_claimed')
  })
})

describe('what is wrong is said with what was expected and found', () => {
  const bare: { new (options?: object): Trunkline } = Object(Trunkline)
  const whole = { baseUrl: 'https://trunkline.example', clientId: 'pk', clientSecret: 'sk' }
  const cases: readonly (readonly [string, () => unknown, RegExp])[] = [
    ['no options', () => new bare(), /^baseUrl must be https:.*and was nothing/],
    ['no address', () => new bare({ ...whole, baseUrl: 'trunkline' }), /^baseUrl must be https:.*and was no address/],
    ['another scheme', () => new bare({ ...whole, baseUrl: 'ftp://u:secret@host/x' }), /^baseUrl must be https:.*and was ftp:\/\/host:/],
    ['plain http', () => new bare({ ...whole, baseUrl: 'http://10.0.0.1' }), /was http:\/\/10\.0\.0\.1: allowHttp permits http/],
    ['a query', () => new bare({ ...whole, baseUrl: 'https://host/?secret' }), /^baseUrl must be an address without .*query/],
    ['no key', () => new bare({ baseUrl: whole.baseUrl }), /^client-id must be as the service issued it, and is missing/],
    ['a key of two lines', () => new bare({ ...whole, clientSecret: 's\nk' }), /^client-secret must be .* and has another character/],
    ['no user', () => Reflect.apply(new Trunkline(whole).user, new Trunkline(whole), []), /^user-id must be .* and is missing/],
    [
      'no bound',
      () => Reflect.apply(script([]).user.orders.list().toArray, null, []),
      /^toArray needs how many at most, such as .* and was given undefined/
    ],
    ['a time', () => script([]).user.accounts.list({}, { timeoutMs: -1 }), /^timeoutMs must be a positive number, and was -1/],
    ['no id', () => script([]).trunkline.users.delete({ user_id: '..' }), /^user_id must be given, and was "\.\."/],
    [
      'a number that JSON does not have',
      () => script([]).user.orders.place(Object({ ...ticket, order_qty: 1n })),
      /^a parameter cannot be sent: .*BigInt/
    ]
  ]
  for (const [what, attempt, message] of cases) {
    test(what, async () => {
      await assert.rejects(
        async () => attempt(),
        (error: unknown) => {
          assert.ok(error instanceof TrunklineError)
          assert.equal(error.code, 'setting_invalid')
          assert.match(error.message, message)
          assert.doesNotMatch(error.message, /secret@|\?secret/)
          return true
        }
      )
    })
  }

  test('an order without terms is for the service to refuse', async () => {
    const run = script([problem(422, 'query_invalid'), problem(422, 'query_invalid'), problem(422, 'query_invalid')])
    const { place, modify, cancelAll } = run.user.orders
    for (const command of [place, cancelAll]) assert.equal((await errorOf(Reflect.apply(command, null, []))).code, 'query_invalid')
    assert.match((await errorOf(Reflect.apply(modify, null, []))).message, /^account_id must be given/)
    assert.equal(run.sent.length, 2)
  })
})
