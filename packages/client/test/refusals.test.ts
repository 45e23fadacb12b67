// What may come between the client and the service: proxies, firewalls and captive portals that answer in its place.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { failureCodes, statusOf } from '../../server/src/http/docs/openapi.ts'
import { ENDPOINTS } from '../../server/src/http/routes/index.ts'
import { ORDER_REFUSALS } from '../src/generated/openapi.ts'
import type { TrunklineUser } from '../src/index.ts'
import { ACCOUNT, answer, broken, errorOf, idOf, ORDER_ID, order, problem, type Sent, type Step, script, ticket } from './scripted.ts'

const STATUSES = [200, 400, 401, 403, 404, 405, 407, 408, 409, 413, 418, 422, 429, 431, 499, 500, 502, 503, 504]
/** The code that the service would give with the status, or with one near it. */
const CODES: Readonly<Record<number, string>> = {
  ...{ 401: 'credentials_invalid', 404: 'order_not_found', 409: 'connection_broken', 413: 'body_too_large', 422: 'query_invalid' },
  ...{ 405: 'method_not_allowed', 429: 'rate_limited', 431: 'headers_too_large', 503: 'store_unavailable' }
}

/** Every form in which something else may answer with a status. */
function formsOf(status: number): Readonly<Record<string, Step>> {
  const code = CODES[status] ?? 'field_invalid'
  const form = { code, message: 'No.', request_id: 'r' }
  return {
    'no body': () => new Response(null, { status }),
    'a page': () => new Response('<h1>No</h1>', { status, headers: { 'content-type': 'text/html' } }),
    'JSON of another shape': answer({ error: 'no', data: null, results: null, order_id: null }, status),
    'a list': answer([null], status),
    'the code without the request': answer({ code, message: 'No.' }, status),
    'a request that its header does not name': answer(form, status),
    'no header that names the request': () =>
      new Response(JSON.stringify(form), { status, headers: { 'content-type': 'application/json' } }),
    'another type of content': answer({ ...form, request_id: 'r' }, status, { 'content-type': 'text/html', 'x-request-id': 'r' })
  }
}

const DUPLICATE = problem(409, 'cl_order_id_duplicate', { order_id: ORDER_ID })
const successor = order({ cl_order_id: 'rebalance-1b', replaces_order_id: ACCOUNT, order_limit_price: '188.00' })
const ADDRESS = { account_id: ACCOUNT, order_id: ACCOUNT }
const change = { ...ADDRESS, broker: 'SANDBOX', new_cl_order_id: 'rebalance-1b', order_limit_price: '188' }

/** Each command, and what the service answers to it when the answer to the first request was another's. */
const COMMANDS: readonly (readonly [string, readonly Step[], (user: TrunklineUser) => Promise<unknown>])[] = [
  ['place', [DUPLICATE, answer(order())], user => user.orders.place(ticket)],
  ['modify', [DUPLICATE, answer(successor)], user => user.orders.modify(change)],
  ['cancel', [answer(order({ order_id: ACCOUNT, normalized_status: 'cancelled' }))], user => user.orders.cancel(ADDRESS)],
  [
    'cancelAll',
    [answer({ results: [{ order_id: ORDER_ID, result: 'cancelled' }], remaining: 0 })],
    user => user.orders.cancelAll({ all: true })
  ]
]

describe('an answer that is not the service’s is a lost one', () => {
  for (const status of STATUSES) {
    for (const [name, after, command] of COMMANDS) {
      test(`${name}, ${status}`, async () => {
        for (const [form, forged] of Object.entries(formsOf(status))) {
          const run = script([forged, ...after])
          await command(run.user).catch(cause => assert.fail(`${form}: ${cause}`))
          assert.equal(run.sent.length, after.length + 1, form)
        }
      })
    }
  }

  test('also when it has the service’s form, with a code that the service does not give for an order', async () => {
    for (const [status, code] of [
      [403, 'field_invalid'],
      [400, 'client_closed_request'],
      [499, 'client_closed_request'],
      [404, 'user_exists'],
      [408, 'request_too_slow'],
      [429, 'store_unavailable'],
      [429, 'too_many_requests'],
      [500, 'internal'],
      [503, 'broker_unavailable'],
      [503, 'rate_limited'],
      [503, 'upstream_unavailable'],
      [503, 'store_unavailable_at_the_gateway']
    ] as const) {
      const run = script([problem(status, code), DUPLICATE, answer(order())])
      assert.equal((await run.user.orders.place(ticket)).order_id, ORDER_ID, code)
    }
  })

  test('and an order stays unknown while nothing else comes', async () => {
    for (const status of [200, 403, 429]) {
      const portal: Step = () => new Response('<h1>Log in to this network</h1>', { status })
      const { code, clOrderId, nothingDone, retrySafe } = await errorOf(
        script(Array.from({ length: 13 }, () => portal)).user.orders.place(ticket)
      )
      assert.deepEqual([code, clOrderId, nothingDone, retrySafe], ['outcome_unknown', 'rebalance-1', false, false])
    }
  })
})

describe('a refusal of the service', () => {
  const making = ENDPOINTS.filter(endpoint => failureCodes(endpoint).includes('cl_order_id_duplicate'))
  const pairs = new Map(making.flatMap(endpoint => failureCodes(endpoint).map(code => [code, statusOf(endpoint, code)] as const)))

  test('is a pair of status and code that the service has for orders, and no other pair', () => {
    assert.deepEqual(
      [...pairs].filter(([code, status]) => ORDER_REFUSALS.test(`${status} ${code}`) !== (status < 500 && status !== 429)),
      []
    )
    for (const [code, status] of pairs)
      assert.ok(!ORDER_REFUSALS.test(`${status + 10} ${code}`) && !ORDER_REFUSALS.test(`${status} ${code}s`))
    assert.ok(!ORDER_REFUSALS.test('404 connection_not_found') && !ORDER_REFUSALS.test('400 body_invalid'))
  })

  for (const [code, status] of [...pairs].filter(([, each]) => each < 500 && each !== 429)) {
    test(`${status} ${code} ends the placing of an order at once`, async () => {
      const error = await errorOf(script([problem(status, code)]).user.orders.place(ticket))
      assert.deepEqual([error.code, error.status, error.clOrderId, error.retrySafe], [code, status, 'rebalance-1', false])
    })
  }

  test('is known by the id of its header or by the one that was sent, whatever a proxy does with the header', async () => {
    const refusal = (sent: Sent, header: string | null, named: string) =>
      new Response(JSON.stringify({ code: 'account_not_found', message: 'No.', request_id: named }), {
        status: 404,
        headers: { 'content-type': 'application/json', ...(header !== null && { 'x-request-id': header.replace('sent', idOf(sent)) }) }
      })
    const steps: readonly Step[] = [
      sent => refusal(sent, null, idOf(sent)),
      sent => refusal(sent, 'sent, another', idOf(sent)),
      sent => refusal(sent, 'of-the-proxy', 'of-the-proxy')
    ]
    for (const step of steps) assert.equal((await errorOf(script([step]).user.orders.place(ticket))).code, 'account_not_found')
  })

  test('says that nothing was done, unless a request that was carried out twice gets the same', async () => {
    const done: readonly (readonly [number, string, boolean])[] = [
      ...([400, 401, 404, 405, 413, 422] as const).map(status => [status, CODES[status] ?? 'field_invalid', true] as const),
      [400, 'order_not_open', false],
      [409, 'cl_order_id_duplicate', false]
    ]
    for (const [status, code, expected] of done) {
      const error = await errorOf(script([problem(status, code)]).user.orders.place(ticket))
      assert.deepEqual([error.code, error.nothingDone, error.retrySafe], [code, expected, false])
    }
    for (const [status, code] of [
      [429, 'rate_limited'],
      [503, 'shutting_down']
    ] as const) {
      const error = await errorOf(script([problem(status, code)]).user.orders.place(ticket, { retries: 0 }))
      assert.deepEqual([error.code, error.nothingDone, error.retrySafe], [code, true, true])
    }
    const refused = await errorOf(script([problem(404, 'account_not_found')]).user.accounts.list())
    assert.deepEqual([refused.nothingDone, refused.retrySafe], [true, false])
  })

  test('does not say so of a call whose first answer was lost', async () => {
    const run = script([broken(), problem(404, 'order_not_found')])
    assert.equal((await errorOf(run.user.orders.cancel(ADDRESS))).nothingDone, false)
  })

  test('is of its own kind: a code with another status is not', async () => {
    for (const status of [500, 503]) {
      const { nothingDone, retrySafe } = await errorOf(
        script([problem(status, 'rate_limited')]).trunkline.users.rotateSecret({ user_id: 'ada' })
      )
      assert.deepEqual([nothingDone, retrySafe], [false, false])
    }
  })
})
