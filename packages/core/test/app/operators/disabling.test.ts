// Who is informed when a platform or a user is shut out: also where it is not known whether it happened.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setPlatformDisabled, setUserDisabled } from '@trunkline/core/app/operators/disabling'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId, UserKey } from '@trunkline/core/domain/ids'
import type { BusMessage } from '@trunkline/core/ports/bus'
import { CommitUnknown, StoreUnavailable } from '@trunkline/core/ports/store'
import * as make from '@trunkline/testkit/store-contract/records'

/** Disables a user and a platform over a store whose writes end so; the types of messages on the bus, and what was thrown. */
async function disabledOver(write: () => Promise<boolean>) {
  const published: string[] = []
  const store = { users: { setDisabled: write }, platforms: { setDisabled: write } }
  const bus = { publish: ({ type }: BusMessage) => void published.push(type) }
  const deps = Object({ store, bus, clock: { now: () => make.at(0) } })
  const entryOf = (action: string, target: string) => Object({ action, target })
  const changes = [
    () => setUserDisabled(deps, make.uuid<UserKey>(), true, entryOf),
    () => setPlatformDisabled(deps, make.uuid<PlatformId>(), true, entryOf)
  ]
  const outcomes: unknown[] = []
  for (const change of changes) outcomes.push(await change().catch((cause: unknown) => cause))
  return { published, outcomes }
}

test('sessions are ended also if the commit was not confirmed, and the error is passed on', async () => {
  const done = await disabledOver(async () => true)
  assert.deepEqual(done, { published: ['user_disabled', 'platform_access_ended'], outcomes: [make.at(0), make.at(0)] })
  const unknown = await disabledOver(() => Promise.reject(new CommitUnknown('lost')))
  assert.deepEqual(unknown.published, ['user_disabled', 'platform_access_ended'])
  assert.ok(unknown.outcomes.every(outcome => outcome instanceof CommitUnknown))
})

test('nothing is published about what did not happen', async () => {
  const failed = await disabledOver(() => Promise.reject(new StoreUnavailable('down')))
  const absent = await disabledOver(async () => false)
  assert.deepEqual([failed.published, absent.published], [[], []])
  const codes = absent.outcomes.map(outcome => (outcome instanceof ServiceError ? outcome.code : outcome))
  assert.deepEqual(codes, ['user_not_found', 'platform_not_found'])
})
