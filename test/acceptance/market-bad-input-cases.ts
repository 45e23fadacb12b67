// The table of malformed and hostile frames of the market data stream: what is sent, and how it must be answered.
import type { Body } from './api.ts'

export interface Frame {
  readonly what: string
  /** Text and bytes as they are, anything else as JSON. */
  readonly frame: unknown
  /** Whether the answer carries the request id `ID`, or none. */
  readonly named: boolean
  /** Error codes that are right; or the type of an answer that is no error. */
  readonly answers: readonly string[]
}

/** A frame that ends the session. */
export interface Fatal {
  readonly what: string
  /** Frames, and whether each is the last of its message. */
  readonly frames: readonly { readonly data: string | Uint8Array; readonly isLast: boolean; readonly isText?: boolean }[]
  readonly code: number
}

export const ID = 'the-id'
/** Stands in what is refused, and must not be found in any log. */
export const CANARY = 'canary-91c0be'
export const MESSAGE_BYTES_MAX = 16 * 1024

const SUBSCRIBE = { action: 'subscribe', channel: 'bars', symbol: 'AAPL', interval: '1m', request_id: ID }
const SNAPSHOT = {
  ...{ action: 'snapshot', symbol: 'AAPL', data_type: 'bars', interval: '1m', request_id: ID },
  ...{ start_time: '2026-03-04T15:00:00Z', end_time: '2026-03-04T16:00:00Z' }
}
const LIST = { action: 'list_subscriptions', request_id: ID }
const HUGE = '9'.repeat(400)

export function frames(): readonly Frame[] {
  return [...unreadable(), ...unnamed(), ...actions(), ...subscribes(), ...chains(), ...snapshots(), ...unsubscribes(), ...harmless()]
}

/** What is no JSON object cannot be answered by name. */
function unreadable(): readonly Frame[] {
  const texts: readonly (readonly [string, unknown])[] = [
    ['nothing', ''],
    ['a space', ' '],
    ['half an object', '{"action":"list_subscriptions","request_id":"the-id"'],
    ['null', 'null'],
    ['a number', '5'],
    ['a text', '"list_subscriptions"'],
    ['a list', '[]'],
    ['a list of a message', `[${JSON.stringify(LIST)}]`],
    ['two messages in one', JSON.stringify(LIST).repeat(2)],
    ['single quotes', "{'action':'list_subscriptions','request_id':'the-id'}"],
    ['a comment', `${JSON.stringify(LIST)} // ${CANARY}`],
    ['a trailing comma', '{"action":"list_subscriptions","request_id":"the-id",}'],
    ['NaN', '{"action":"list_subscriptions","request_id":NaN}'],
    ['a NUL at the end', `${JSON.stringify(LIST)}\u0000`],
    ['a raw NUL in a text', '{"action":"list_subscriptions","request_id":"the\u0000id"}'],
    ['a byte order mark', `\uFEFF${JSON.stringify(LIST)}`],
    ['a lonely surrogate’s half', '{"action":"list_subscriptions","request_id":"\\ud800"'],
    ['brackets without end', '['.repeat(MESSAGE_BYTES_MAX - 1)],
    ['objects without end', '{"a":'.repeat(3_000)],
    ['balanced brackets', `${'['.repeat(8_000)}${']'.repeat(8_000)}`],
    ['a form', 'action=list_subscriptions&request_id=the-id'],
    ['XML', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
    ['a request line', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['bytes of a message', Buffer.from(JSON.stringify(LIST))],
    ['bytes of nothing', Buffer.alloc(0)],
    ['bytes of noise', Buffer.from(Array.from({ length: 999 }, (_, index) => (index * 167) & 255))]
  ]
  return texts.map(([what, frame]) => ({ what, frame, named: false, answers: ['invalid_request'] }))
}

function unnamed(): readonly Frame[] {
  const ids: readonly unknown[] = [
    undefined,
    null,
    '',
    0,
    5,
    1e308,
    false,
    [],
    [ID],
    {},
    { toString: ID },
    'x'.repeat(129),
    'x'.repeat(10_000)
  ]
  return ids.map(request_id => ({
    what: `the request id ${JSON.stringify(request_id)?.slice(0, 30)}`,
    frame: { ...SUBSCRIBE, request_id },
    named: false,
    answers: ['invalid_request']
  }))
}

function actions(): readonly Frame[] {
  const words: readonly unknown[] = [
    '',
    'SUBSCRIBE',
    'subscribe ',
    'toString',
    '__proto__',
    'constructor',
    'drop table',
    CANARY,
    'x'.repeat(9_000)
  ]
  const others: readonly unknown[] = [undefined, null, 0, [], ['subscribe'], {}, { subscribe: true }]
  return [...words, ...others].map(action => ({
    what: `the action ${JSON.stringify(action)?.slice(0, 30)}`,
    frame: { ...SUBSCRIBE, action },
    named: true,
    answers: typeof action === 'string' ? ['unknown_action'] : ['unknown_action', 'invalid_request']
  }))
}

function wrong(base: Body, field: string, code: string, ...values: readonly unknown[]): readonly Frame[] {
  return values.map(value => ({
    what: `${base.action} with ${field} ${JSON.stringify(value)?.slice(0, 40)}`,
    frame: { ...base, [field]: value },
    named: true,
    // A text of no length or beyond all measure is as good as none.
    answers: value === '' || (typeof value === 'string' && value.length > 64) ? [code, 'invalid_request'] : [code]
  }))
}

/** A number that only text can express. */
function literal(base: Body, field: string, text: string, code: string): Frame {
  const frame = JSON.stringify({ ...base, [field]: '@' }).replace('"@"', text)
  return { what: `${base.action} with ${field} ${text.slice(0, 30)}`, frame, named: true, answers: [code] }
}

function subscribes(): readonly Frame[] {
  const depth = { ...SUBSCRIBE, channel: 'depth' }
  return [
    ...wrong(
      SUBSCRIBE,
      'channel',
      'unsupported_channel',
      '',
      'news',
      'BARS',
      '__proto__',
      'hasOwnProperty',
      CANARY,
      '\u0000',
      'b'.repeat(9_000)
    ),
    ...wrong(SUBSCRIBE, 'channel', 'invalid_request', undefined, null, 0, [], ['bars'], {}),
    ...wrong(SUBSCRIBE, 'symbol', 'invalid_request', undefined, null, 0, [], ['AAPL'], {}),
    ...wrong(
      SUBSCRIBE,
      'symbol',
      'unsupported_symbol',
      '',
      'AAPL\u0000',
      'AA PL',
      '../AAPL',
      'AAPL?x=1',
      "AAPL'--",
      '%2e%2e',
      'AAPL\r\nX: y'
    ),
    ...wrong(
      SUBSCRIBE,
      'symbol',
      'unsupported_symbol',
      '__proto__',
      '<b>',
      '＄ＡＡＰＬ',
      'A'.repeat(9_000),
      'BTC/',
      '/USD',
      '/',
      'ESZ26;',
      'BTC/USD/EUR'
    ),
    ...wrong(SUBSCRIBE, 'interval', 'invalid_request', undefined, null, 1, [], ['1m'], {}),
    ...wrong(
      SUBSCRIBE,
      'interval',
      'unsupported_interval',
      '',
      '0m',
      '00m',
      '-1m',
      '1m\u0000',
      `${HUGE}m`,
      '1e9m',
      '1'.repeat(9_000),
      '1м',
      '∞m'
    ),
    ...wrong(SUBSCRIBE, 'session', 'invalid_request', 0, [], {}, ['USEqCore']),
    ...wrong(SUBSCRIBE, 'session', 'unsupported_session', '', 'USEQCORE', '__proto__', CANARY, 'x'.repeat(9_000)),
    ...wrong(SUBSCRIBE, 'backfill_nbars', 'invalid_request', -1, 0.5, '10', [], {}, true, Number.MAX_SAFE_INTEGER, 1e308),
    literal(SUBSCRIBE, 'backfill_nbars', '1e999', 'invalid_request'),
    literal(SUBSCRIBE, 'backfill_nbars', HUGE, 'invalid_request'),
    ...wrong(depth, 'n_levels', 'invalid_request', 0, 11, -1, 2.5, '5', [], {}, true, Number.MAX_SAFE_INTEGER),
    literal(depth, 'n_levels', '1e999', 'invalid_request'),
    literal(depth, 'n_levels', '-1e999', 'invalid_request'),
    literal(depth, 'n_levels', HUGE, 'invalid_request')
  ]
}

function chains(): readonly Frame[] {
  const chain = { action: 'subscribe', channel: 'options_chain', symbol: 'SPY', expiration: '2099-12-18', request_id: ID }
  return [
    ...wrong(
      chain,
      'expiration',
      'invalid_request',
      undefined,
      null,
      0,
      [],
      {},
      '',
      'soon',
      '2026-02-30',
      '2026-1-1',
      '0000-00-00',
      '2026-12-18\u0000'
    ),
    ...wrong(chain, 'expiration', 'unsupported_symbol', '1970-01-01', '2099-12-18', '9999-12-31'),
    ...wrong(chain, 'greeks', 'invalid_request', 'true', 1, [], {}),
    ...wrong(chain, 'symbol', 'unsupported_symbol', 'NOSUCH', 'BTC/USD')
  ]
}

function snapshots(): readonly Frame[] {
  return [
    ...['symbol', 'start_time', 'end_time', 'data_type', 'interval'].flatMap(field =>
      wrong(SNAPSHOT, field, 'invalid_request', undefined, null, 0, [], {})
    ),
    ...wrong(SNAPSHOT, 'data_type', 'invalid_request', '', 'trades', '__proto__', CANARY),
    ...wrong(
      SNAPSHOT,
      'start_time',
      'invalid_request',
      '',
      'yesterday',
      '2026-02-30T00:00:00Z',
      '2026-03-04T25:00:00Z',
      `${HUGE}`,
      '2026-03-04'
    ),
    ...wrong(SNAPSHOT, 'start_time', 'invalid_request', '1926-03-04T15:00:00Z', '0001-01-01T00:00:00Z', '-271821-04-20T00:00:00Z'),
    ...wrong(
      SNAPSHOT,
      'end_time',
      'invalid_request',
      '',
      '9999-12-31T23:59:59Z',
      '+275760-09-13T00:00:00Z',
      SNAPSHOT.start_time,
      '2026-03-04T16:00:00'
    ),
    ...wrong(SNAPSHOT, 'interval', 'unsupported_interval', '', '0m', '1s', `${HUGE}y`),
    ...wrong(SNAPSHOT, 'symbol', 'unsupported_symbol', '', 'NOSUCH', '../', CANARY)
  ]
}

function unsubscribes(): readonly Frame[] {
  const unsubscribe = { action: 'unsubscribe', sub_id: '1', request_id: ID }
  return [
    ...wrong(unsubscribe, 'sub_id', 'invalid_request', undefined, null, 1, [], ['1'], {}),
    // The second belongs to the session beside this one.
    ...wrong(unsubscribe, 'sub_id', 'subscription_not_found', '2', '3', '501', HUGE),
    ...['0', '-1', '01', '1.0', ' 1', '', '1\u0000', '__proto__', 'constructor', CANARY].map(sub_id => ({
      what: `unsubscribe with sub_id ${JSON.stringify(sub_id)}`,
      frame: { ...unsubscribe, sub_id },
      named: true,
      answers: ['subscription_not_found', 'invalid_request']
    }))
  ]
}

/** Strange, and yet to be answered like any other. */
function harmless(): readonly Frame[] {
  const lists: readonly (readonly [string, unknown])[] = [
    ['fields that mean nothing', { ...LIST, more: [1, { two: null }], sub_id: {}, channel: 5 }],
    ['white space around', `\r\n\t ${JSON.stringify(LIST)}\n `],
    ['escapes', '{"\\u0061ction":"list\\u005fsubscriptions","request_id":"the\\u002did"}'],
    ['the largest message', padded(LIST, MESSAGE_BYTES_MAX)],
    ['text of many bytes a character', { ...LIST, pad: '👍'.repeat(3_000) }],
    ['deep below', `${JSON.stringify(LIST).slice(0, -1)},"a":${'['.repeat(20)}${']'.repeat(20)}}`]
  ]
  return [
    ...lists.map(([what, frame]) => ({ what, frame, named: true, answers: ['subscriptions_list'] })),
    {
      what: 'keys twice',
      frame: '{"action":"list_subscriptions","action":"fly","request_id":"the-id"}',
      named: true,
      answers: ['unknown_action', 'invalid_request']
    },
    {
      what: 'a prototype',
      frame: '{"action":"list_subscriptions","request_id":"the-id","__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}',
      named: false,
      answers: ['invalid_request']
    },
    {
      what: 'nested far below',
      frame: `${JSON.stringify(LIST).slice(0, -1)},"a":${'['.repeat(7_000)}${']'.repeat(7_000)}}`,
      named: false,
      answers: ['invalid_request']
    }
  ]
}

export function fatal(): readonly Fatal[] {
  const whole = (data: string | Uint8Array, isText = typeof data === 'string') => [{ data, isLast: true, isText }]
  const parts = (data: string, size: number) =>
    Array.from({ length: Math.ceil(data.length / size) }, (_, index) => ({
      data: data.slice(index * size, (index + 1) * size),
      isLast: (index + 1) * size >= data.length
    }))
  return [
    { what: 'one byte too many', frames: whole(padded(LIST, MESSAGE_BYTES_MAX + 1)), code: 1009 },
    { what: '10 MB of text', frames: whole('x'.repeat(10_000_000)), code: 1009 },
    { what: '10 MB of bytes', frames: whole(Buffer.alloc(10_000_000)), code: 1009 },
    { what: 'too much in parts', frames: parts(padded(LIST, 4 * MESSAGE_BYTES_MAX), 2_048), code: 1009 },
    { what: 'text that is not UTF-8', frames: whole(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), true), code: 1007 },
    { what: 'an overlong encoding', frames: whole(Buffer.from([0xc0, 0x80]), true), code: 1007 }
  ]
}

function padded(message: Body, bytes: number): string {
  const bare = JSON.stringify({ ...message, pad: '' })
  return bare.replace('"pad":""', `"pad":"${'x'.repeat(bytes - bare.length)}"`)
}
