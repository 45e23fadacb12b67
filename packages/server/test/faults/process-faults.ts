// What becomes of the service itself, of its logins, and of the broker as a whole: killed, stopped, terminated, locked out, alone.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@trunkline/testkit/until'
import type { Fault, Stage } from './stage.ts'

const LOGINS_TURNED_AWAY = 3
const MINUTE_MS = 60_000

/** Ends the service in the middle of a load, in the given way, and starts it again. The load goes on meanwhile. */
export async function restartUnderLoad(stage: Stage, signal: 'SIGKILL' | 'SIGTERM', expected: number | string): Promise<void> {
  const { world } = stage
  const before = [...world.followers.values()].map(({ connections }) => connections)
  const load = stage.trade(10, 120)
  await delay(stage.chance.whole(300, 900))
  world.service.kill(signal)
  assert.equal(await world.service.ended(), expected, world.service.output.slice(-4_000))
  await world.restart()
  await load
  for (const [index, follower] of [...world.followers.values()].entries())
    await until(() => follower.connections > (before[index] ?? 0) && follower.isLive, 'the follower has resumed')
}

export const PROCESSES: readonly Fault[] = [
  {
    id: 'F25',
    title: 'the service is killed under load, and starts again',
    play: stage => restartUnderLoad(stage, 'SIGKILL', 'SIGKILL')
  },
  {
    id: 'F25',
    title: 'and once more, while submits have no answer',
    async play(stage) {
      await stage.injectFaults({ on: 'orders.submit', do: 'lose_answer', times: 8 })
      await restartUnderLoad(stage, 'SIGKILL', 'SIGKILL')
    }
  },
  {
    id: 'F26, F41',
    title: 'the service stands still for seconds, and goes on',
    async play(stage) {
      const load = stage.trade(4, 200)
      await delay(300)
      stage.world.service.kill('SIGSTOP')
      await delay(2_500)
      stage.world.service.kill('SIGCONT')
      await load
    }
  },
  {
    id: 'F39',
    title: 'the clock of the running service is set back and forth',
    async play(stage) {
      const { service } = stage.world
      const sessions = () => [...stage.world.followers.values()].map(({ connections }) => connections)
      const before = sessions()
      for (const minutes of [-1, 5, -120, 0, 120, -5, 0]) {
        await stage.tradeDuring(() => service.setClock(minutes * MINUTE_MS))
        await stage.trade(2)
        // Positions and balances among it: before the clock has caught up, and while it is wrong.
        await stage.accord.reached()
      }
      assert.deepEqual(sessions(), before, 'no session lost its place')
      assert.ok(
        (await stage.health()).every(health => health === 'live'),
        'everybody is followed'
      )
    }
  },
  {
    id: 'F27',
    title: 'the service is asked to terminate under load, twice',
    async play(stage) {
      await restartUnderLoad(stage, 'SIGTERM', 0)
      await restartUnderLoad(stage, 'SIGTERM', 0)
    }
  },
  {
    id: 'F23',
    title: 'answers of token refreshes are lost, at a broker that forgives',
    async play(stage) {
      const { sandbox, users } = stage.world
      await sandbox.control('PUT', '/oauth', { refresh_grace_ms: 60_000 })
      await stage.injectFaults({ on: 'token', do: 'lose_answer', times: LOGINS_TURNED_AWAY })
      for (const { login } of users.slice(0, LOGINS_TURNED_AWAY))
        await stage.injectFaults({ on: '*', do: 'status', status: 401, times: 1, login: login.username })
      await stage.trade(4, 100)
      const connections = await Promise.all(users.map(user => user.call('GET', '/connections')))
      assert.ok(
        connections.every(({ body }) => body[0].status === 'ACTIVE'),
        'nobody is broken'
      )
      await sandbox.control('PUT', '/oauth', { refresh_grace_ms: 0 })
    }
  },
  {
    id: 'F23',
    title: 'the answer of a token refresh is lost, at a broker that does not forgive: reported, never silent',
    async play(stage) {
      const { world } = stage
      const victim = await world.platform.user('victim', await world.sandbox.login())
      const price = await world.sandbox.restingPrice(victim.login, 'SPY')
      const ticket = { symbol: 'SPY', order_type: 'LMT', order_tif: 'GTC', order_limit_price: price }
      const { body } = await victim.place('resting', ticket)
      assert.equal(body.normalized_status, 'working', JSON.stringify(body))
      await stage.injectFaults({ on: 'token', do: 'lose_answer', times: 1 })
      // The first refresh loses its answer, and the second one comes with a token that is used up.
      await stage.injectFaults({ on: '*', do: 'status', status: 401, login: victim.login.username })
      const load = stage.trade()
      const connection = async () => {
        // A read meets the 401, and with it the refresh.
        await victim.call('GET', '/balances')
        return (await victim.call('GET', '/connections')).body[0]
      }
      await until(async () => (await connection()).status === 'BROKEN', 'the connection is broken')
      assert.equal((await connection()).health, 'broken')
      assert.equal((await victim.place('another', ticket)).status, 409)
      assert.equal((await victim.named('resting'))?.normalized_status, 'working', 'the last that is known')
      await load
    }
  },
  {
    id: 'F24',
    title: 'the broker cannot be reached for long',
    // An order without an answer is looked for every half minute once the broker was away for longer than a proof of absence takes.
    settleMs: 60_000,
    async play(stage) {
      const { sandboxProxy, users } = stage.world
      sandboxProxy.refuse()
      for (const kind of ['request', 'stream'] as const) sandboxProxy.reset(kind)
      await stage.trade(5, 400)
      const reads = await Promise.all(users.flatMap(user => ['/orders', '/positions', '/balances'].map(path => user.call('GET', path))))
      assert.ok(
        reads.every(({ status }) => status === 200),
        'the last known records are read'
      )
      assert.ok(sandboxProxy.counts.refused > 0)
      assert.ok((await stage.health()).every(health => health === 'stale'))
    }
  },
  {
    id: 'F24',
    title: 'the broker answers 503 to everything, then nothing at all',
    async play(stage) {
      await stage.injectFaults({ on: '*', do: 'status', status: 503, times: 60 })
      await stage.streams({ do: 'drop' })
      await stage.trade(3, 200)
      await stage.injectFaults({ on: '*', do: 'hang', times: 30 })
      await stage.trade(3, 200)
    }
  }
]
