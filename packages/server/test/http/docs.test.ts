// The descriptions of the API, as far as they can be judged without a running service.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Type, { type TSchema } from 'typebox'
import { asyncApi, streamUrl } from '../../src/http/docs/asyncapi.ts'
import { Components } from '../../src/http/docs/components.ts'
import { fieldTable } from '../../src/http/docs/fields.ts'
import { markup, prose } from '../../src/http/docs/html.ts'
import { DIALOGUE, MESSAGES } from '../../src/http/docs/stream-messages.ts'
import { streamPart } from '../../src/http/docs/stream-part.ts'
import { CLOSE_CODES, LIMITS } from '../../src/http/docs/stream-rules.ts'
import * as wire from '../../src/wire/stream.ts'
import { update } from '../../src/wire/update.ts'

describe('the broker stream is described', () => {
  test('with every message that the wire has', () => {
    const schemas = [...Object.values(wire).filter(value => Type.IsObject(value)), ...update.anyOf]
    assert.ok(schemas.length >= 19)
    assert.deepEqual(MESSAGES.map(({ title }) => title).sort(), schemas.map(titleOf).sort())
  })

  test('at the address that platforms reach, encrypted where the service is', () => {
    assert.equal(streamUrl('https://api.example.com'), 'wss://api.example.com/stream')
    assert.equal(streamUrl('http://127.0.0.1:8080'), 'ws://127.0.0.1:8080/stream')
    const { servers } = JSON.parse(JSON.stringify(asyncApi('https://api.example.com:8443')))
    assert.deepEqual([servers.service.protocol, servers.service.host], ['wss', 'api.example.com:8443'])
  })

  test('with the numbers of the code, and none that is missing', () => {
    const text = JSON.stringify([CLOSE_CODES, LIMITS])
    assert.ok(!/NaN|undefined|null/.test(text), text)
    assert.deepEqual(
      CLOSE_CODES.map(({ code }) => code),
      [1001, 1009, 4001, 4008, 4029]
    )
    for (const value of ['30 seconds', '64 KiB', '10', '500', '10,000', '1,000 at once, 100 a second']) {
      assert.ok(
        LIMITS.some(limit => limit.value === value),
        value
      )
    }
  })

  test('by a dialogue in which the client speaks, too, and no record fills the page', () => {
    const { html } = streamPart('http://127.0.0.1:8080')
    const lines = [...html.matchAll(/<span class="(sent|received)">([^<]*)<\/span>/g)].map(([, way, text]) => ({ way, text }))
    assert.equal(lines.length, DIALOGUE.length)
    assert.deepEqual(
      lines.filter(({ way }) => way === 'sent').map(({ text }) => /&quot;action&quot;:&quot;(\w+)/.exec(text ?? '')?.[1]),
      ['authenticate', 'subscribe', 'subscribe_user']
    )
    for (const { text = '' } of lines) assert.ok(text.length < 400, text)
  })
})

describe('a page of ours', () => {
  test('shows what it is given and never takes it for markup', () => {
    const evil = '<img src=x onerror=alert(1)> & "quoted" \'too\''
    assert.equal(markup`<p title="${evil}">${[markup`<b>${evil}</b>`]}</p>`.html, `<p title="${escaped(evil)}"><b>${escaped(evil)}</b></p>`)
    assert.equal(prose('a `<b>` c').html, 'a <code>&lt;b&gt;</code> c')
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

test('a titled schema is written once, and nothing of the inside is told', () => {
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

function titleOf({ title }: { readonly title?: unknown } & TSchema): string {
  return String(title)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
