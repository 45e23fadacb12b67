// The list of redirect addresses of a platform is edited, on record, and never becomes empty by accident.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatabase, sharedPostgres } from '@trunkline/testkit/postgres/index'
import { directory } from '../admin/support.ts'
import { cli } from './terminal.ts'

test('redirect addresses are added, removed and listed; adding an invalid one, and removing an unknown one or the last one, is refused', async context => {
  await using cluster = await sharedPostgres()
  await using database = await createDatabase(cluster.url)
  const env = { TRUNKLINE_DATA_DIR: join(directory(context), 'new'), TRUNKLINE_DATABASE_URL: database.url }
  const [first, second] = ['https://app.example.com/linked', 'https://app.example.com/other?x=1']
  const made = await cli(env, 'platform', 'create', '--name', 'App', '--claim', 'off', '--redirect', first, '--json')
  const { client_id } = JSON.parse(made.out)
  const listed = async () => JSON.parse((await cli(env, 'platform', 'redirects', 'list', client_id, '--json')).out)
  assert.equal((await cli(env, 'platform', 'redirects', 'add', client_id, second)).code, 0)
  assert.deepEqual(await listed(), [first, second])
  for (const [args, why] of [
    [['add', client_id, 'http://app.example.com/'], /must use https/],
    [['remove', client_id, `${first}/`], /is not on the list/],
    [['remove', client_id, first, second], /an empty list allows any address/],
    [['add', 'pk_nobody', second], /There is no platform/]
  ] as const) {
    const refused = await cli(env, 'platform', 'redirects', ...args)
    assert.equal(refused.code, 1)
    assert.match(refused.err, why)
  }
  assert.equal((await cli(env, 'platform', 'redirects', 'remove', client_id, first)).code, 0)
  assert.deepEqual(await listed(), [second])
  const log = JSON.parse((await cli(env, 'audit', 'list', '--json')).out)
  assert.deepEqual(
    log
      .slice(0, 2)
      .map(({ action, detail }: { action: string; detail: object }) => [action, detail])
      .map(([action]: unknown[]) => action),
    ['platform.redirects', 'platform.redirects']
  )
})
