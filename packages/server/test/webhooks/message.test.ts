// What a message has, and what it is called.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseUserId, type WebhookEndpointId } from '@trunkline/core/domain/ids'
import type { WebhookFilter } from '@trunkline/core/domain/webhook'
import * as make from '@trunkline/testkit/store-contract/records'
import { nextStretch } from '../../src/webhooks/message.ts'
import { WebhookWorld } from './webhook-world.ts'

test('messages with other events have other ids, whatever their ends are', async () => {
  const world = new WebhookWorld()
  const userKey = world.addUser()
  for (let count = 0; count < 3; count += 1) world.commit(userKey)
  const all = await world.store.events.read(userKey, 0, 10)
  const endpointId = make.uuid<WebhookEndpointId>()
  const idOf = (seqs: readonly number[], filter: WebhookFilter = { topics: null, orderStatuses: null }) =>
    nextStretch({
      ...{ endpointId, userKey, userId: parseUserId('ada'), filter, erasedTo: 0, cursor: { seq: 0, tryingTo: null } },
      events: all.filter(({ seq }) => seqs.includes(seq))
    }).message?.messageId
  assert.equal(idOf([1, 2, 3]), idOf([1, 2, 3], { topics: ['orders', 'positions', 'balances'], orderStatuses: null }))
  assert.equal(new Set([idOf([1, 2, 3]), idOf([1, 3]), idOf([1, 2]), idOf([3])]).size, 4)
})
