// The table of bad input: what is sent, and how it must be answered.

export interface Case {
  readonly what: string
  readonly request: readonly [method: string, address: string]
  /** JSON, or text or bytes as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly as?: 'platform' | 'user' | 'nobody'
  readonly status: number
  /** The path of a detail, or a part of the message. */
  readonly names?: string
}

export interface World {
  readonly accountId: string
  readonly connectionId: string
}

export const RANDOM = '0198f0c2-6c1e-7f10-8b3a-2d6f5c9e4a71'
/** Stands in requests that are refused, and must not be found anywhere afterwards. */
export const CANARY = 'canary-6f1d2c'

/** An order that would be taken, but for what `change` does to it. */
function order(world: World, change: Readonly<Record<string, unknown>>): unknown {
  return {
    account_id: world.accountId,
    cl_order_id: `bad-${CANARY}`,
    broker: 'SANDBOX',
    side: 'BUY',
    order_type: 'LMT',
    order_tif: 'DAY',
    symbol: 'AAPL',
    order_qty: '1',
    order_limit_price: '1.00',
    ...change
  }
}

export function orderCases(world: World): readonly Case[] {
  const wrong = (field: string, value: unknown, names = field): Case => ({
    what: `order with ${field} ${(JSON.stringify(value) ?? 'absent').slice(0, 40)}`,
    request: ['POST', '/orders'],
    body: order(world, { [field]: value }),
    status: 400,
    names
  })
  const numbers = [
    1,
    '1e3',
    'NaN',
    'Infinity',
    '-Infinity',
    '0x10',
    '-0',
    '00.1',
    '1'.repeat(60),
    '１２',
    '1 ',
    ' 1',
    '+1',
    '1,5',
    '.5',
    '5.',
    '',
    '1_000',
    true,
    ['1'],
    { value: '1' }
  ]
  return [
    ...numbers.map(value => wrong('order_qty', value)),
    ...['1e3', '-0', 187.5, ' 1', '0', '-1', '0.0000000001'].map(value => wrong('order_limit_price', value)),
    ...['order_qty', 'order_notional', 'stop_price'].map(field => wrong(field, '50.0000000001')),
    ...['0', '-1', null].map(value => wrong('order_qty', value)),
    wrong('order_notional', '100'),
    wrong('order_limit_price', null),
    wrong('stop_price', '1'),
    wrong('account_id', undefined),
    wrong('account_id', null),
    wrong('account_id', 7),
    wrong('account_id', 'not-a-uuid'),
    wrong('account_id', `${RANDOM}\n`),
    { ...wrong('account_id', RANDOM), status: 404, names: 'account_id' },
    ...[
      undefined,
      null,
      '',
      ' ',
      'a '.repeat(40),
      'x'.repeat(65),
      "a'; drop table orders; --\u0007",
      'a\u0000b',
      'a\u202eb',
      '😀',
      '\ud800',
      5
    ].map(value => wrong('cl_order_id', value)),
    ...[undefined, 'sandbox', 'NOWHERE', '', 'A'.repeat(40), 3].map(value => wrong('broker', value)),
    ...[undefined, 'buy', 'HOLD', 'BUY_TO_OPEN', 1].map(value => wrong('side', value)),
    ...[undefined, 'LIMIT', 'TRAIL', {}].map(value => wrong('order_type', value)),
    ...[undefined, 'GTD', 'day', []].map(value => wrong('order_tif', value)),
    ...[undefined, null, '', 'aapl', 'AAPL ', '../../etc/passwd', 'A'.repeat(200), "A'--", 12].map(value => wrong('symbol', value)),
    ...['FOREX', 'CRYPTO', 'MLEG_OPT', 0].map(value =>
      wrong('instrument', value, value === 'FOREX' || value === 0 ? 'instrument' : 'symbol')
    ),
    ...[{}, 'x', [], [{ symbol: 'AAPL261218C00200000', action: 'BUY_TO_OPEN', ratio: '1' }]].map(value => wrong('legs', value)),
    ...['user_id', 'status', 'filled_qty', 'fence', 'order_id', 'constructor', 'toString'].map(field => wrong(field, 'x'))
  ]
}

export function textCases(world: World): readonly Case[] {
  const text = JSON.stringify(order(world, {}))
  const post = (what: string, body: unknown, status: number, names?: string, headers: Readonly<Record<string, string>> = {}): Case => ({
    what,
    request: ['POST', '/orders'],
    body,
    headers,
    status,
    ...(names !== undefined && { names })
  })
  return [
    post('no body', undefined, 400, 'JSON body'),
    post('an empty body', '', 400, 'JSON body'),
    post('half a body', text.slice(0, 50), 400, 'valid JSON'),
    post('two bodies', text + text, 400, 'valid JSON'),
    post('a trailing comma', text.replace('}', ',}'), 400, 'valid JSON'),
    post('a list', `[${text}]`, 400),
    post('a text', '"order"', 400),
    post('null', 'null', 400),
    post('a key twice', text.replace('{', '{"side":"SELL",'), 400, 'side'),
    post('a key twice in disguise', text.replace('{', '{"s\\u0069de":"SELL",'), 400, 'side'),
    post('__proto__', text.replace('{', '{"__proto__":{"side":"SELL"},'), 400, '__proto__'),
    post('constructor.prototype', text.replace('{', '{"constructor":{"prototype":{"x":1}},'), 400, 'constructor'),
    post('33 levels', text.replace('{', `{"x":${'['.repeat(33)}${']'.repeat(33)},`), 400, '32 levels'),
    post('10,000 levels', '['.repeat(10_000), 400),
    post('100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400, '32 levels'),
    post('a NUL in a text', text.replace('AAPL', 'AA\\u0000PL'), 400, 'symbol'),
    post('a lone surrogate', text.replace('AAPL', '\\udfff'), 400, 'symbol'),
    post('a byte-order mark', `\ufeff${text}`, 400, 'valid JSON'),
    post('300 KB', text.replace('AAPL', 'A'.repeat(300 * 1024)), 413, '256 KiB'),
    post('a quarter megabyte of keys', `{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":1`).join()}}`, 400),
    post('a form', 'account_id=1', 400, 'application/json', { 'content-type': 'application/x-www-form-urlencoded' }),
    post('a plain text', text, 400, 'application/json', { 'content-type': 'text/plain' }),
    post('a strange content type', text, 400, 'application/json', { 'content-type': 'nonsense' }),
    post('UTF-16', text, 400, 'UTF-8', { 'content-type': 'application/json; charset=utf-16' }),
    post('a compressed body', text, 400, 'compressed', { 'content-encoding': 'gzip' }),
    post('a query on a request that takes none', text, 422, 'side', {})
  ].map(one => (one.what.startsWith('a query') ? { ...one, request: ['POST', '/orders?side=SELL'] as const } : one))
}

export function queryCases(): readonly Case[] {
  const get = (address: string, names: string, as: Case['as'] = 'user', status = 422): Case => ({
    what: address.slice(0, 70),
    request: ['GET', address],
    as,
    status,
    names
  })
  const lists = ['/connections', '/accounts', '/balances', '/positions', '/transactions', '/orders']
  return [
    ...lists.map(list => get(`${list}?nonsense=1`, 'nonsense')),
    get('/users?nonsense=1', 'nonsense', 'platform'),
    get('/platform/connections?nonsense=1', 'nonsense', 'platform'),
    get('/brokers?nonsense=1', 'nonsense', 'platform'),
    get('/events?user_id=ada&nonsense=1', 'nonsense', 'platform'),
    get('/events', 'user_id', 'platform'),
    ...['0', '501', '-1', '1.5', '1e2', 'ten', '', '%20', '１', '0x10', '99999999999999999999'].map(limit =>
      get(`/orders?limit=${limit}`, 'limit')
    ),
    ...['0', '1001'].flatMap(limit => ['/users', '/platform/connections'].map(list => get(`${list}?limit=${limit}`, 'limit', 'platform'))),
    ...['OPEN', 'pending_cancel', '', 'all,open', "open'--"].map(status => get(`/orders?status=${encodeURIComponent(status)}`, 'status')),
    get('/connections?status=active', 'status'),
    get('/platform/connections?status=GONE', 'status', 'platform'),
    ...['entry_time', 'entry_time:up', 'price:asc', 'entry_time:asc,price:asc', ':', 'entry_time:asc:desc'].map(sort =>
      get(`/orders?sort=${sort}`, 'sort')
    ),
    get('/users?sort=secret:asc', 'sort', 'platform'),
    ...['2026-11-21', '2026-11-21T14:30:00', '2026-02-30T00:00:00Z', '2026-11-21T14:30Z', '1', '2026-11-21T14:30:00 02:00'].map(time =>
      get(`/orders?start_time=${encodeURIComponent(time)}`, 'start_time')
    ),
    get('/orders?start_time=2026-11-21T00:00:00%2B02:00&end_time=2026-11-01T00:00:00Z', 'end_time'),
    ...['2026-11-31', '2026-1-1', '0000-12-31', '2026-11-01T00:00:00Z'].map(day => get(`/transactions?start_date=${day}`, 'start_date')),
    get('/transactions?start_date=2026-11-02&end_date=2026-11-01', 'end_date'),
    ...['/accounts', '/balances', '/orders'].map(list => get(`${list}?connection_id=1`, 'connection_id')),
    ...['/balances', '/positions', '/transactions', '/orders'].map(list => get(`${list}?account_id=${RANDOM}`, 'account_id', 'user', 404)),
    ...['/accounts', '/balances', '/orders'].map(list => get(`${list}?connection_id=${RANDOM}`, 'connection_id', 'user', 404)),
    get('/accounts?broker=sandbox', 'broker'),
    get('/positions?symbols=', 'symbols'),
    get('/positions?symbols=AAPL,,MSFT', 'symbols'),
    get('/positions?symbols=aapl', 'symbols'),
    get(`/positions?symbols=${'A,'.repeat(101)}A`, 'symbols'),
    get('/orders?side=buy', 'side'),
    get('/orders?order_id=x', 'order_id'),
    ...['', '%20a', 'x'.repeat(65), '%00'].map(id => get(`/orders?cl_order_id=${id}`, 'cl_order_id')),
    get('/orders?side=BUY&side=SELL', 'side'),
    get('/orders?limit=5&limit=6', 'limit'),
    get('/orders?__proto__=1', '__proto__'),
    get('/orders?constructor=1', 'constructor'),
    get('/users?account_number=a%00b', 'account_number', 'platform'),
    get('/users?account_number=%ED%A0%80%01', 'account_number', 'platform'),
    get('/users?user_id=a%0Ab', 'user_id', 'platform'),
    ...['next_cursor', 'prev_cursor'].flatMap(name =>
      ['x', '', 'null', 'e30', 'A'.repeat(300)].map(cursor => get(`/orders?${name}=${cursor}`, name))
    ),
    get('/orders?next_cursor=a&prev_cursor=b', 'next_cursor')
  ]
}

export function pathCases(world: World): readonly Case[] {
  const remove = (address: string, status: number, names: string, as: Case['as'] = 'user'): Case => ({
    what: `DELETE ${address.slice(0, 60)}`,
    request: ['DELETE', address],
    as,
    status,
    names
  })
  return [
    remove('/connections/1', 400, 'connection_id'),
    remove(`/connections/${RANDOM}`, 404, 'connection_id'),
    remove('/connections/..%2F..%2Fusers%2Fada', 400, 'connection_id'),
    remove('/connections/%00', 400, 'connection_id'),
    remove('/connections/%', 400, 'percent'),
    remove('/connections/%ff%fe', 400, 'percent'),
    remove(`/users/${'x'.repeat(65)}`, 400, 'user_id', 'platform'),
    remove(`/users/${'x'.repeat(3_000)}`, 400, 'path', 'platform'),
    remove('/users/a%0d%0ab', 400, 'user_id', 'platform'),
    remove('/users/nobody', 400, 'user_id', 'platform'),
    remove(`/accounts/x/orders/${RANDOM}`, 400, 'account_id'),
    remove(`/accounts/${RANDOM}/orders/x`, 400, 'order_id'),
    remove(`/accounts/${RANDOM}/orders/${RANDOM}`, 404, 'account_id'),
    remove(`/accounts/${world.accountId}/orders/${RANDOM}`, 404, 'order'),
    remove(`/connections/${world.connectionId}?force=1`, 422, 'force'),
    {
      what: 'a body where none is taken',
      request: ['DELETE', `/connections/${world.connectionId}`],
      body: { force: true },
      status: 400,
      names: 'force'
    },
    { what: 'token of an unknown connection', request: ['GET', `/connections/${RANDOM}/token`], status: 404, names: 'connection_id' },
    { what: 'an unknown order', request: ['GET', `/orders/${RANDOM}`], status: 404, names: 'order_id' },
    { what: 'an order of an unknown account', request: ['GET', `/accounts/${RANDOM}/orders/${RANDOM}`], status: 404, names: 'account_id' },
    { what: 'an order not in it', request: ['GET', `/accounts/${world.accountId}/orders/${RANDOM}`], status: 404, names: 'order_id' },
    { what: 'an order with a query', request: ['GET', `/orders/${RANDOM}?status=open`], status: 422, names: 'status' },
    { what: 'token of no id', request: ['GET', '/connections/x/token'], status: 400, names: 'connection_id' },
    { what: 'rotate an unknown user', request: ['POST', '/users/nobody/rotate-secret'], as: 'platform', status: 404, names: 'user_id' },
    {
      what: 'rotate with a field',
      request: ['POST', '/users/ada/rotate-secret'],
      as: 'platform',
      body: { secret: 'x' },
      status: 400,
      names: 'secret'
    },
    { what: 'no such address', request: ['GET', '/nowhere'], as: 'nobody', status: 404, names: '/docs' },
    { what: 'no such method', request: ['PUT', '/orders'], as: 'nobody', status: 405, names: 'GET, HEAD, POST' },
    {
      what: 'a method override',
      request: ['GET', '/orders/x'],
      headers: { 'x-http-method-override': 'DELETE' },
      status: 400,
      names: 'order_id'
    },
    {
      what: 'a preflight',
      request: ['OPTIONS', '/orders'],
      as: 'nobody',
      headers: { origin: 'https://evil.example' },
      status: 405,
      names: 'GET, HEAD, POST'
    }
  ]
}

export function changeCases(world: World): readonly Case[] {
  const patch = (what: string, body: unknown, names: string, status = 400): Case => ({
    what: `modify ${what}`,
    request: ['PATCH', `/accounts/${world.accountId}/orders/${RANDOM}`],
    body,
    status,
    names
  })
  return [
    patch('without a new cl_order_id', { broker: 'SANDBOX' }, 'new_cl_order_id'),
    patch('without a broker', { new_cl_order_id: 'b' }, 'broker'),
    patch('with a number', { new_cl_order_id: 'b', broker: 'SANDBOX', order_qty: 5 }, 'order_qty'),
    patch('with a side', { new_cl_order_id: 'b', broker: 'SANDBOX', side: 'SELL' }, 'side'),
    patch('of an unknown order', { new_cl_order_id: 'b', broker: 'SANDBOX', order_qty: '5' }, 'order', 404)
  ]
}

const HOSTILE_REDIRECTS = [
  '//evil.example',
  '/linked',
  'evil.example',
  'https:/\\evil.example',
  'https:\\\\evil.example',
  'https://good.example@evil.example/',
  'https://good.example:x@evil.example/',
  'https://good%2eexample/',
  'https://good．example/',
  'https://good.example./',
  'https://GOOD.example/',
  'https://0x7f.1/',
  'http://good.example/',
  'http://127.0.0.1.evil.example/',
  'javascript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'https://good.example/#fragment',
  'https://good.example/\r\nset-cookie: a=b',
  'https://good.example/%0d%0aset-cookie:%20a=b',
  'https://good.example/a b',
  `https://good.example/${'a'.repeat(3_000)}`,
  '',
  5,
  ['https://good.example/']
]

export function connectionCases(): readonly Case[] {
  const post = (what: string, body: unknown, names: string): Case => ({
    what: `connect ${what}`,
    request: ['POST', '/connections'],
    body,
    status: 400,
    names
  })
  return [
    ...HOSTILE_REDIRECTS.flatMap(url =>
      ['redirect_url', 'redirect_on_error_url'].map(field =>
        post(`${field} ${JSON.stringify(url).slice(0, 50)}`, { connection_type: 'trade', [field]: url }, field)
      )
    ),
    post('without a type', { broker: 'SANDBOX' }, 'connection_type'),
    post('with two types', { connection_type: 'trade', type: 'readonly' }, 'type'),
    post('with a type of no kind', { connection_type: 'admin' }, 'connection_type'),
    post('to no broker', { connection_type: 'trade', broker: 'NOWHERE' }, 'broker'),
    post('with a status', { connection_type: 'trade', status: 'ACTIVE' }, 'status')
  ]
}

export function userCases(): readonly Case[] {
  const post = (what: string, body: unknown, names = 'user_id', status = 400): Case => ({
    what: `user ${what}`,
    request: ['POST', '/users'],
    as: 'platform',
    body,
    status,
    names
  })
  return [
    post('without a name', {}),
    ...['', '.', '..', 'x'.repeat(65), 'a\nb', 'a\u0000b', 'a\u202eb', 'a\u200bb', '\ud800', 5, null, ['a'], {}].map(name =>
      post(JSON.stringify(name).slice(0, 30), { user_id: name })
    ),
    post('with a secret', { user_id: 'eve', 'user-secret': 'x' }, 'user-secret'),
    post('that exists', { user_id: 'ada' }, 'user_id', 409)
  ]
}

export function orderOfChecks(world: World): readonly Case[] {
  return [
    {
      what: 'credentials come before everything',
      request: ['POST', '/orders?x=1'],
      as: 'nobody',
      body: '{',
      status: 401,
      names: 'credentials'
    },
    {
      what: 'credentials come before size',
      request: ['POST', '/orders'],
      as: 'nobody',
      body: 'x'.repeat(300_000),
      status: 401,
      names: 'credentials'
    },
    { what: 'credentials come before the path', request: ['DELETE', '/connections/x'], as: 'platform', status: 401, names: 'credentials' },
    { what: 'the path comes before the query', request: ['DELETE', '/connections/x?y=1'], status: 400, names: 'connection_id' },
    { what: 'the query comes before the body', request: ['POST', '/connections?y=1'], body: '{', status: 422, names: 'y' },
    {
      what: 'the body comes before existence',
      request: ['PATCH', `/accounts/${RANDOM}/orders/${RANDOM}`],
      body: {},
      status: 400,
      names: 'new_cl_order_id'
    },
    {
      what: 'the form of the body comes before the account',
      request: ['POST', '/orders'],
      body: order(world, { account_id: RANDOM, side: 'x' }),
      status: 400,
      names: 'side'
    }
  ]
}
