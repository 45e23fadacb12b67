import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOSTILE_JSON, isPolluted } from '@trunkline/testkit/hostile-json'
import fc from 'fast-check'
import { JSON_DEPTH_MAX, parseJson } from '../../src/domain/json.ts'
import { Malformed } from '../../src/domain/malformed.ts'

test('accepted text parses like JSON.parse, and everything else is Malformed', () => {
  fc.assert(
    // The only valid JSON that is refused has that name, which the generator draws now and then.
    fc.property(
      fc.json({ maxDepth: 6 }).filter(text => !text.includes('__proto__')),
      text => {
        assert.deepEqual(parseJson(text), JSON.parse(text))
      }
    )
  )
  fc.assert(
    fc.property(fc.string(), text => {
      try {
        parseJson(text)
      } catch (cause) {
        assert.ok(cause instanceof Malformed)
      }
    })
  )
})

test('depth is bounded, however many brackets there are side by side', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const beside = `[${'{},'.repeat(1_000)}`
  assert.doesNotThrow(() => parseJson(deep(JSON_DEPTH_MAX)))
  assert.doesNotThrow(() => parseJson(`${beside}${deep(JSON_DEPTH_MAX - 1)}]`))
  for (const text of [deep(JSON_DEPTH_MAX + 1), `${beside}${deep(JSON_DEPTH_MAX)}]`, deep(100_000)])
    assert.throws(() => parseJson(text), Malformed)
  assert.throws(() => parseJson('"xxxx"', { charsMax: 5 }), Malformed)
})

test('a hostile text is refused, or is a value that all code can traverse [S66, S67]', () => {
  for (const { what, text } of HOSTILE_JSON) {
    for (const whole of [text, `{"action":"ping","seq":${text}}`, `[[${text}]]`]) {
      try {
        const value = parseJson(whole)
        assert.ok(JSON.stringify(value).length > 0, what)
        if (typeof value === 'object') assert.equal(Object.getPrototypeOf(Object.assign({}, value)), Object.prototype, what)
      } catch (cause) {
        assert.ok(cause instanceof Malformed, `${what}: ${cause}`)
        assert.ok(cause.message.length < 200, what)
      }
    }
  }
  assert.ok(!isPolluted())
})
