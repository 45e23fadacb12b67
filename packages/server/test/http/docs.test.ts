// The descriptions of the API, as far as they can be judged without a running service.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Type, { type TSchema } from 'typebox'
import { asyncApi, STREAMS, streamUrl } from '../../src/http/docs/asyncapi.ts'
import { BROKER_STREAM } from '../../src/http/docs/broker-stream.ts'
import { Components } from '../../src/http/docs/components.ts'
import { message, messagesOf, type Stream } from '../../src/http/docs/described.ts'
import { fieldTable } from '../../src/http/docs/fields.ts'
import { markup, richText } from '../../src/http/docs/html.ts'
import { llmsFullText } from '../../src/http/docs/llms.ts'
import { MARKET_STREAM } from '../../src/http/docs/market-stream.ts'
import { postmanCollection } from '../../src/http/docs/postman.ts'
import { searchIndex } from '../../src/http/docs/search-index.ts'
import { streamPart } from '../../src/http/docs/stream-part.ts'
import { ENDPOINTS } from '../../src/http/routes/index.ts'
import * as marketWire from '../../src/wire/market.ts'
import * as wire from '../../src/wire/stream.ts'
import { update } from '../../src/wire/update.ts'

describe('each stream is described', () => {
  test('so that a message with a field of a later version fits', () => {
    const { components } = JSON.parse(JSON.stringify(asyncApi('http://127.0.0.1:8080')))
    assert.ok(Object.keys(components.schemas).length > 30)
    assert.ok(!JSON.stringify(components).includes('additionalProperties'))
  })

  test('with every message that its wire has', () => {
    const schemas = [...Object.values(wire).filter(value => Type.IsObject(value)), ...update.anyOf]
    assert.ok(schemas.length >= 19)
    assert.deepEqual(titlesOf(BROKER_STREAM), schemas.map(titleOf).sort())
    const ofMarket = Object.values(marketWire).filter(value => Type.IsObject(value))
    assert.ok(ofMarket.length >= 16)
    assert.deepEqual(titlesOf(MARKET_STREAM), ofMarket.map(titleOf).sort())
  })

  test('with every error code that its wire has', () => {
    assert.deepEqual(
      MARKET_STREAM.errorCodes.map(({ code }) => code),
      marketWire.MARKET_ERROR_CODES
    )
  })

  test('at the address that platforms reach, encrypted where the service is', () => {
    assert.equal(streamUrl('https://api.example.com', BROKER_STREAM), 'wss://api.example.com/stream')
    assert.equal(streamUrl('http://127.0.0.1:8080', MARKET_STREAM), 'ws://127.0.0.1:8080/market-data/stream')
    const { servers } = JSON.parse(JSON.stringify(asyncApi('https://api.example.com:8443')))
    assert.deepEqual([servers.stream.protocol, servers.stream.host], ['wss', 'api.example.com:8443'])
    assert.deepEqual([servers.market_data.protocol, servers.market_data.host], ['wss', 'api.example.com:8443'])
  })

  for (const { stream, codes, values } of [
    {
      stream: BROKER_STREAM,
      codes: [1001, 1009, 1011, 1013, 4001, 4003, 4008, 4029],
      values: ['30 seconds', '64 KiB', '10', '500', '10,000', '1,000 at once, 100 a second']
    },
    {
      stream: MARKET_STREAM,
      codes: [1001, 1009, 1011, 4001, 4003, 4008, 4029],
      values: ['30 seconds', '24 hours', '16 KiB', '5', '500', '50,000', '1,000 at once, 100 a second', '4 a second', '1 to 10']
    }
  ]) {
    test(`with the numbers of the code, and none that is missing: ${stream.title}`, () => {
      const { closeCodes, limits, errorCodes } = stream
      const text = JSON.stringify([closeCodes, limits, errorCodes])
      assert.ok(!/NaN|undefined|null/.test(text), text)
      assert.deepEqual(
        closeCodes.map(({ code }) => code),
        codes
      )
      for (const value of values) {
        assert.ok(
          limits.some(limit => limit.value === value),
          value
        )
      }
    })
  }

  for (const { stream, actions } of [
    { stream: BROKER_STREAM, actions: ['authenticate', 'subscribe', 'subscribe_user'] },
    { stream: MARKET_STREAM, actions: ['authenticate', 'subscribe'] }
  ]) {
    test(`with a two-way example, and no record fills the page: ${stream.title}`, () => {
      const { html } = streamPart(stream, 'http://127.0.0.1:8080')
      const lines = [...html.matchAll(/<span class="(sent|received)">([^<]*)<\/span>/g)].map(([, way, text]) => ({ way, text }))
      assert.equal(lines.length, stream.dialogue.length)
      assert.deepEqual(
        lines.filter(({ way }) => way === 'sent').map(({ text }) => /&quot;action&quot;:&quot;(\w+)/.exec(text ?? '')?.[1]),
        actions
      )
      for (const { text = '' } of lines) assert.ok(text.length < 450, text)
    })
  }

  test('and no two share the name of a message, an operation or a place on the page', () => {
    const titles = STREAMS.flatMap(stream => messagesOf(stream).map(({ title }) => title))
    assert.equal(new Set(titles).size, titles.length)
    const { operations } = JSON.parse(JSON.stringify(asyncApi('http://127.0.0.1:8080')))
    assert.equal(
      Object.keys(operations).length,
      STREAMS.reduce((count, { requests, announcements }) => count + requests.length + announcements.length, 0)
    )
    const ids = STREAMS.flatMap(stream => [...streamPart(stream, '').html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    assert.equal(new Set(ids).size, ids.length)
  })

  test('and a message that cannot be distinguished from others is refused', () => {
    assert.throws(() => message(Type.Object({ p: Type.String() }, { title: 'Bare', description: 'No word.' }), { p: '1' }), TypeError)
  })
})

test('the Postman collection has no id of an example: each is a variable that it declares', () => {
  const collection = JSON.stringify(postmanCollection(ENDPOINTS, 'https://a.example'))
  const { variable, item } = JSON.parse(collection)
  const declared = new Map<string, string>(variable.map(({ key, value }: Record<'key' | 'value', string>) => [key, value]))
  for (const [, name = ''] of collection.matchAll(/\{\{(\w+)\}\}/g)) assert.ok(declared.has(name), name)
  assert.deepEqual([declared.get('account_id'), declared.get('cl_order_id')], ['', 'my-first-order'])
  const requests: readonly unknown[] = item.flatMap((folder: { readonly item: readonly { readonly request: unknown }[] }) =>
    folder.item.map(({ request }) => request)
  )
  assert.equal(requests.length, ENDPOINTS.length)
  assert.doesNotMatch(JSON.stringify(requests), /[0-9a-f]{8}-[0-9a-f]{4}-7/)
})

describe('a page of ours', () => {
  test('shows what it is given and never takes it for markup', () => {
    const evil = '<img src=x onerror=alert(1)> & "quoted" \'too\''
    assert.equal(markup`<p title="${evil}">${[markup`<b>${evil}</b>`]}</p>`.html, `<p title="${escaped(evil)}"><b>${escaped(evil)}</b></p>`)
    assert.equal(richText('a `<b>` c').html, 'a <code>&lt;b&gt;</code> c')
  })

  test('shows the fields of a list within an object, what each can be, and what may be left out', () => {
    const part = Type.Object({ 'a<b': Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })) })
    const schema = Type.Object({ kind: Type.Literal('x_y'), parts: Type.Array(part) })
    const { html } = fieldTable('Fields', schema, 'here')
    assert.match(html, /always <code>x_<wbr>y<\/code>/)
    assert.match(html, /<code>parts\[\]\.<wbr>a&lt;b<\/code><\/th><td>integer, 1 to 5 \(optional\)/)
  })

  test('leads from a list of several kinds to each of them', () => {
    const kinds = ['One', 'Two'].map(title => Type.Object({}, { title }))
    assert.match(
      fieldTable('Fields', Type.Object({ data: Type.Array(Type.Union(kinds)) }), 'here').html,
      /array of <a href="#One">One<\/a>, <a href="#Two">Two<\/a>/
    )
  })
})

test('a record that several places hold is described in one of them', () => {
  const order = Type.Object({ order_id: Type.String() }, { title: 'Order' })
  const rows = (schema: TSchema, at: string) => fieldTable('Fields', schema, at).html
  const page = Type.Object({ data: Type.Array(order) })
  assert.match(rows(page, 'listOrders'), /<code>data\[\]\.<wbr>order_<wbr>id<\/code>/)
  assert.match(rows(page, 'here'), /<td>array of <a href="#listOrders">Order<\/a><\/td>/)
  assert.doesNotMatch(rows(page, 'here'), /order_<wbr>id/)
  assert.equal(rows(order, 'here'), '<p>Fields: those of <a href="#listOrders">Order</a>.</p>\n')
})

test('a titled schema is written once, and nothing internal is disclosed', () => {
  const components = new Components()
  const inner = Type.String({ title: 'Inner', 'x-expected': 'ours' })
  const outer = Type.Object({ a: inner, b: Type.Array(inner) }, { title: 'Outer' })
  assert.deepEqual(components.reference(outer), { $ref: '#/components/schemas/Outer' })
  assert.deepEqual(components.schemas, {
    Inner: { type: 'string', title: 'Inner' },
    Outer: {
      type: 'object',
      title: 'Outer',
      required: ['a', 'b'],
      properties: { a: { $ref: '#/components/schemas/Inner' }, b: { type: 'array', items: { $ref: '#/components/schemas/Inner' } } }
    }
  })
})

function titlesOf(stream: Stream): readonly string[] {
  return messagesOf(stream)
    .map(({ title }) => title)
    .sort()
}

function titleOf({ title }: { readonly title?: unknown } & TSchema): string {
  return String(title)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}

test('the search finds what people type for what we call otherwise', () => {
  const index = searchIndex(ENDPOINTS)
  const hrefs = (word: string) =>
    index.filter(({ title, about, words }) => `${title} ${about} ${words}`.toLowerCase().includes(word)).map(({ href }) => href)
  for (const [word, href] of [
    ['canceled', '/docs#cancelOrder'],
    ['pagination', '/docs#listOrders'],
    ['idempotency', '/docs#placeOrder'],
    ['429', '/docs/errors/rate_limited'],
    ['rate-limit', '/docs/errors/rate_limited'],
    ['gtc', '/docs#placeOrder'],
    ['stop loss', '/docs#placeOrder'],
    ['docker', '/docs/guides/operating']
  ] as const)
    assert.ok(
      hrefs(word).some(found => found.startsWith(href)),
      `${word}: ${hrefs(word).join(' ')}`
    )
})

test('the text of all guides has no link that depends on where it stands', () => {
  const targets = [...llmsFullText(ENDPOINTS, 'https://api.example.com').matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
  assert.ok(targets.length > 20)
  assert.deepEqual(
    targets.filter(target => !/^https:\/\//.test(target)),
    []
  )
})
