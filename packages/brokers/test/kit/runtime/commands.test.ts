/** What is checked before a request leaves. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { get } from '../../../src/kit/requests.ts'
import { Commands } from '../../../src/kit/runtime/commands.ts'

test('a request that the broker would not take for a preview is never sent as one', async () => {
  let sent = 0
  const login = { calls: { of: () => ({ ask: async () => void sent++ }) } }
  const definition = {
    resource: 'trading',
    refusal: () => null,
    placing: async () => ({}),
    preview: { request: () => get('/orders'), isPreview: () => false, interpret: () => assert.fail('it was sent') }
  }
  const commands = new Commands<'trading', object>(Object(definition), Object(login), null)
  await assert.rejects(commands.preview(Object({}), new AbortController().signal), TypeError)
  assert.equal(sent, 0)
})
