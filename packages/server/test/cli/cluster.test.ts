// The nodes of a cluster, listed and drained by an operator.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '@trunkline/testkit/until'
import { Client } from 'pg'
import { directory } from '../admin/support.ts'
import { realMember } from '../cluster/members/real-member.ts'
import { SceneDatabase } from '../cluster/members/scene.ts'
import { answerOf, cli } from './terminal.ts'

const database = await SceneDatabase.open()
after(() => database[Symbol.asyncDispose]())

test('an operator lists the nodes and drains one of them; the audit log records it', async context => {
  await database.reset()
  const env = { TRUNKLINE_DATA_DIR: directory(context), TRUNKLINE_DATABASE_URL: database.url }
  assert.match((await cli(env, 'cluster', 'nodes')).out, /^No node has joined/)
  const dead = '0192f0c1-7a3e-7b52-9c1d-00000000dead'
  const client = new Client(database.url)
  await client.connect()
  await client.query(`select join_members($1, 'http://gone', 'gone', interval '0')`, [dead])
  await client.end()
  const [a, b] = [realMember(database.url, {}), realMember(database.url, {})]
  await a.member.start()
  await b.member.start()
  await until(() => b.member.ownedCount > 0 && a.member.ownedCount + b.member.ownedCount === 256, 'both own something')
  const listed = await cli(env, 'cluster', 'nodes')
  assert.equal(listed.code, 0, listed.err)
  assert.match(listed.out, /^node_id +name +url +joined +lease +partitions +fence +state\n/)
  // A partition on its way from one to the other has no owner, which a last line says.
  const [table = ''] = listed.out.split('\n\n', 1)
  assert.match(table, new RegExp(`\\n${dead}  .* dead\\n?$`), `the living come first: ${listed.out}`)
  assert.match(listed.out, new RegExp(`^${a.nodeId}  .* s left +\\d+ +1 +living$`, 'm'))

  assert.match((await cli(env, 'cluster', 'drain', b.nodeId)).out, /gives its users to the other nodes now/)
  await until(() => a.member.ownedCount === 256, 'the other node has all')
  const { nodes, partitions_without_owner: unowned } = answerOf(await cli(env, 'cluster', 'nodes', '--json'))
  assert.equal(unowned, 0)
  assert.deepEqual(
    nodes.map((node: Record<string, unknown>) => [node.node_id, node.draining, node.partitions]),
    [
      [a.nodeId, false, 256],
      [b.nodeId, true, 0],
      [dead, false, 0]
    ]
  )
  assert.match((await cli(env, 'audit', 'list', '--json')).out, new RegExp(`"cluster.drain"[^}]*"${b.nodeId}"`))
  await Promise.all([a.member.stop(), b.member.stop()])
})

test('what is no living node is not drained', async context => {
  await database.reset()
  const env = { TRUNKLINE_DATA_DIR: directory(context), TRUNKLINE_DATABASE_URL: database.url }
  const unknown = await cli(env, 'cluster', 'drain', '0192f0c1-7a3e-7b52-9c1d-00000000dead')
  assert.deepEqual(
    [unknown.code, unknown.err],
    [1, 'There is no living node 0192f0c1-7a3e-7b52-9c1d-00000000dead. "cluster nodes" lists them.\n']
  )
  assert.equal((await cli(env, 'cluster', 'drain', 'b')).code, 2)
  const embedded = await cli({ TRUNKLINE_DATA_DIR: directory(context) }, 'cluster', 'nodes')
  assert.equal(embedded.code, 2)
  assert.match(embedded.err, /TRUNKLINE_DATABASE_URL is not set/)
})
