// The nodes' own messages, between complete nodes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sendMessage } from '../../../src/cluster/forward/node-messages.ts'
import { MESSAGES, Nodes, type TestNode } from './nodes.ts'

let nodes: Nodes
before(async () => {
  nodes = await Nodes.open()
})
after(() => nodes[Symbol.asyncDispose]())

const asOwner = ({ nodeId, nodeUrl }: TestNode) => ({ nodeId, url: nodeUrl })

test('a message arrives whole, however large', async () => {
  const { asked, owner } = nodes
  const message = { users: Array.from({ length: 20_000 }, () => asked.nodeId) }
  await sendMessage(asked.clients, asOwner(owner), MESSAGES, message)
  assert.deepEqual(owner.messages, [message])
})

test('an unknown path is refused by the routes of clients, and one that clients have no access to stays so', async () => {
  const { asked, owner } = nodes
  await assert.rejects(sendMessage(asked.clients, asOwner(owner), '/nodes/other', {}), /refused/)
  assert.equal((await nodes.ask(owner, 'POST', MESSAGES, { body: {} })).status, 404)
})

test('a node of another installation, or under another id, is not reached', async () => {
  const { asked, owner } = nodes
  await assert.rejects(sendMessage(asked.clients, { nodeId: asked.nodeId, url: owner.nodeUrl }, MESSAGES, {}), /no complete answer/)
})
