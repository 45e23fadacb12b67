// Every documented answer has an example, and every example is what its schema says.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { ANSWERS } from '../../src/http/docs/answer-examples.ts'
import * as market from '../../src/http/docs/market-examples.ts'
import { openApi } from '../../src/http/docs/openapi.ts'
import { ENDPOINTS } from '../../src/http/routes/index.ts'

type Node = ReturnType<typeof JSON.parse>

const document: Node = JSON.parse(JSON.stringify(openApi(ENDPOINTS, 'https://trunkline.example.com')))

/** What is wrong with a value in the eyes of a part of the document; null for nothing. */
function complaint(schema: Node, value: unknown): string | null {
  const ajv = new Ajv({ strict: false, allErrors: true, formats: { decimal: /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/ } })
  addFormats.default(ajv)
  const isFit = ajv.compile({ components: document.components, ...schema })
  return isFit(value) ? null : JSON.stringify(isFit.errors)
}

/** Every JSON answer of every operation: its name, its status and its content. */
const answers: readonly { readonly what: string; readonly status: string; readonly content: Node }[] = Object.values<Node>(
  document.paths
).flatMap(methods =>
  Object.values<Node>(methods).flatMap(({ operationId, responses }) =>
    Object.entries<Node>(responses).map(([status, response]) => {
      const { content } = response.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)]
      return { what: `${operationId} ${status}`, status, content: content['application/json'] }
    })
  )
)

test('every documented response has an example that is valid for its schema', () => {
  assert.ok(answers.length > ENDPOINTS.length * 6)
  const judged = new Map<string, string | null>()
  for (const { what, content } of answers) {
    const values: readonly unknown[] =
      content.examples === undefined ? [content.example] : Object.values<Node>(content.examples).map(({ value }) => value)
    assert.ok(values.length > 0 && values.every(value => value !== undefined && value !== null), `${what} has no example`)
    for (const value of values) {
      const key = JSON.stringify([content.schema, value])
      if (!judged.has(key)) judged.set(key, complaint(content.schema, value))
      assert.equal(judged.get(key), null, what)
    }
  }
})

test('each error has an example at every status with which an operation returns it', () => {
  for (const { what, status, content } of answers.filter(({ content: { examples } }) => examples !== undefined)) {
    for (const [code, { value }] of Object.entries<Node>(content.examples)) assert.equal(value.code, code, `${what}: ${status}`)
  }
  const codes = answers.flatMap(({ content }) => Object.keys(content.examples ?? {}))
  for (const endpoint of ENDPOINTS)
    for (const code of endpoint.failures ?? []) assert.ok(codes.includes(code), `${endpoint.operationId}: ${code}`)
})

test('an invalid example is detected, and every example belongs to an operation', () => {
  const [first] = answers.filter(({ what }) => what.startsWith('placeOrder 201'))
  assert.ok(first !== undefined)
  assert.notEqual(complaint(first.content.schema, { ...first.content.example, order_qty: 10 }), null)
  assert.notEqual(complaint(first.content.schema, { ...first.content.example, order_id: 'first' }), null)
  assert.deepEqual(Object.keys(ANSWERS).toSorted(), ENDPOINTS.map(({ operationId }) => operationId).toSorted())
})

test('no example contains anything that could be a secret', () => {
  const text = JSON.stringify(answers.map(({ content }) => content))
  for (const [secret] of text.matchAll(/\b(?:us|sk|pk|mdt)_[^"]*/g)) assert.match(secret, /^(?:us|mdt)_…$/)
  for (const [, link] of text.matchAll(/\/connect\/([\w-]*)/g)) assert.equal(link, 'example')
})

test('prices of the market are written as they come: without zeros at the end of a decimal', () => {
  const { readQuote, readChain, readBars } = ANSWERS
  const text = JSON.stringify([readQuote, readChain, readBars, market])
  assert.ok([...text.matchAll(/"\d+\.\d+"/g)].length > 30)
  assert.deepEqual(text.match(/"-?\d+\.\d*0"/g), null)
})
