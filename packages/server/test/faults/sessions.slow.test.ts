// F22, F25: a hundred sessions of ten platforms lose their sockets at once, in the middle of frames, or with the service itself.

import assert from 'node:assert/strict'
import { CrashPlatform, type World } from '@trunkline/testkit/crash/index'
import { soon } from '@trunkline/testkit/patience'
import { until } from '@trunkline/testkit/until'
import { AdminClient } from '../../src/admin/client.ts'
import { matrix } from './matrix.ts'
import type { Fault, Stage } from './stage.ts'

const PLATFORMS = 10
const SESSIONS_OF_EACH = 10
const ACCOUNTS = 2

/** Each platform has one user, whom all its sessions follow. */
async function populate(world: World): Promise<void> {
  const admin = await AdminClient.connect(world.dataDir)
  assert.ok(admin !== null, 'the service answers its operator')
  const run = { by: 'a test', signal: soon(), progress: () => undefined }
  for (let number = 1; number <= PLATFORMS; number += 1) {
    const { clientId, clientSecret } = await admin.perform(
      'platform.create',
      { name: `platform ${number}`, redirects: [], claims: false },
      run
    )
    const demo = () => ({ base_url: world.demo.base_url, client_id: clientId, client_secret: clientSecret })
    const { userId } = await world.join(new CrashPlatform(demo), `user-of-${number}`, ACCOUNTS)
    for (let session = 1; session <= SESSIONS_OF_EACH; session += 1)
      world.follow(`session ${number}.${session}`, { demo, users: [userId], origin: () => world.platformProxy.url })
  }
}

async function allResumed(stage: Stage, connections: readonly number[]): Promise<void> {
  const followers = [...stage.world.followers.values()]
  const isBack = () => followers.every((follower, index) => follower.connections > (connections[index] ?? 0) && follower.isLive)
  await until(isBack, 'all sessions have resumed')
}

const SESSIONS: readonly Fault[] = [
  {
    id: 'F22',
    title: 'the sockets of a hundred sessions are reset in the middle of frames, three times',
    async play(stage) {
      const { platformProxy, followers } = stage.world
      // The load goes on until then: a line is cut only when so many bytes have come.
      await stage.tradeDuring(async () => {
        for (let round = 1; round <= 3; round += 1) {
          const before = [...followers.values()].map(({ connections }) => connections)
          const cut = platformProxy.resetAfter('stream', 'toClient', () => stage.chance.whole(1, 2_000))
          assert.equal(cut, PLATFORMS * SESSIONS_OF_EACH)
          await allResumed(stage, before)
        }
      }, 300)
    }
  },
  {
    id: 'F25',
    title: 'the service is killed with all places taken, and everybody is back soon after',
    async play(stage) {
      const { world } = stage
      const before = [...world.followers.values()].map(({ connections }) => connections)
      const load = stage.trade(6, 120)
      world.service.kill('SIGKILL')
      await world.service.ended()
      await world.restart()
      await load
      await allResumed(stage, before)
    }
  }
]

matrix({ name: 'sessions', populate }, SESSIONS)
