import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { asCurl, asTypeScript, targetOf } from '../src/snippets.ts'

const ORIGIN = 'https://trunkline.example'
const QUERY = { user: `it's "a" $HOME \`id\` & b=c`, after: undefined, code: '' }
const REQUEST = { method: 'GET', path: '/admin/v1/events', query: QUERY } as const

test('filters without a value are not sent, and the others are encoded', () => {
  assert.equal(targetOf({ method: 'GET', path: '/x', query: { after: undefined, code: '' } }), '/x')
  assert.equal(new URL(ORIGIN + targetOf(REQUEST)).searchParams.get('user'), QUERY.user)
})

test('a shell passes a copied curl command on unchanged, and expands only the key', () => {
  const body = { note: `it's $HOME "here"` }
  const command = asCurl({ method: 'POST', path: "/admin/v1/o'brien", query: QUERY, body }, ORIGIN)
  const { stdout, stderr } = spawnSync('sh', ['-c', `curl() { for each; do printf '%s\\n' "$each"; done; }\n${command}`], {
    encoding: 'utf8',
    env: { TRUNKLINE_OPERATOR_KEY: 'the key', HOME: '/expanded' }
  })
  assert.equal(stderr, '')
  assert.deepEqual(stdout.trimEnd().split('\n'), [
    ...['--fail-with-body', '--request', 'POST', `${ORIGIN}${targetOf({ ...REQUEST, path: "/admin/v1/o'brien" })}`],
    ...['--header', 'authorization: Bearer the key', '--header', 'content-type: application/json', '--data', JSON.stringify(body)]
  ])
})

test('a copied TypeScript program makes the same request', async () => {
  const body = { note: 'it’s `here` \\ "there"' }
  for (const request of [REQUEST, { method: 'POST', path: '/admin/v1/x', body } as const]) {
    const calls: unknown[][] = []
    const fetched = async (...args: unknown[]) => {
      calls.push(args)
      return { ok: true, json: async () => 7 }
    }
    const program = asTypeScript(request, ORIGIN).replace('const answer: unknown =', 'return')
    const run = new Function('fetch', 'process', `return (async () => {${program}})()`)
    assert.equal(await run(fetched, { env: { TRUNKLINE_OPERATOR_KEY: 'the key' } }), 7)
    const sent = 'body' in request ? { method: 'POST', body: JSON.stringify(body) } : {}
    const type = 'body' in request ? { 'content-type': 'application/json' } : {}
    assert.deepEqual(calls, [[ORIGIN + targetOf(request), { ...sent, headers: { authorization: 'Bearer the key', ...type } }]])
  }
})
