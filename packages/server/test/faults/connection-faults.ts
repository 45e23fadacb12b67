// What the network and the streams can do, between the service and the sandbox and between the service and its platforms.
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { CutBetween, Disorder, type Tampered } from '@trunkline/testkit/fault-proxy/index'
import { until } from '@trunkline/testkit/until'
import type { Fault, Stage } from './stage.ts'

const GAPS = 'stream_gaps_total'
const CONNECTS_PER_SECOND_MAX = 10

function tally(): Tampered {
  return { dropped: 0, duplicated: 0, reordered: 0, cut: 0 }
}

/** Ends when everybody's stream is up again. */
async function allLive(stage: Stage): Promise<void> {
  await until(async () => (await stage.health()).every(health => health === 'live'), 'everybody is live')
}

async function noneLive(stage: Stage): Promise<void> {
  await until(async () => (await stage.health()).every(health => health !== 'live'), 'everybody knows that the stream is down')
}

/** Those that keep the streams down for longer come last: the pauses between attempts to open them grow. */
export const STREAMS: readonly Fault[] = [
  {
    id: 'F20',
    title: 'all streams reconnect and nothing has changed: no event',
    async play(stage) {
      const { sandbox, users } = stage.world
      await sandbox.control('PUT', '/market', { paused: true })
      await sandbox.control('PUT', '/clock', { frozen: true })
      const reconnect = async () => {
        const lists = await sandbox.requests('positions.list')
        await stage.streams({ do: 'drop' })
        // Two accounts of each login are read again, after which it is live again.
        await until(async () => (await sandbox.requests('positions.list')) >= lists + 2 * users.length, 'every account was read')
        await allLive(stage)
      }
      // Prices that moved before they stood still are a change the first time.
      await reconnect()
      const seqs = () => Promise.all(users.map(user => lastSeq(stage, user.userId)))
      const before = await seqs()
      await reconnect()
      assert.deepEqual(await seqs(), before)
    }
  },
  {
    id: 'F12',
    title: 'the stream is cut exactly between a fill and its order, again and again',
    async play(stage) {
      const done = tally()
      stage.world.sandboxProxy.tamper(() => new CutBetween('fill', 'order', done, () => done.cut < 12))
      await stage.trade(6, 60)
      assert.ok(done.cut >= 3, `${done.cut} cuts`)
    }
  },
  {
    id: 'F11',
    title: 'events are lost, doubled and overtaken on their way',
    async play(stage) {
      const done = tally()
      const { fraction } = stage.chance.apart()
      stage.world.sandboxProxy.tamper(() => new Disorder({ drop: 0.04, duplicate: 0.1, delay: 0.15, window: 4, fraction, tally: done }))
      await stage.trade(6, 60)
      assert.ok(done.dropped > 0 && done.duplicated > 0 && done.reordered > 0, JSON.stringify(done))
    }
  },
  {
    id: 'F11',
    title: 'the sandbox itself loses, doubles and reorders events',
    async play(stage) {
      await stage.counts(GAPS, 'cause="missing"', 1, async () => {
        await stage.streams({ do: 'lose', times: 8 })
        await stage.streams({ do: 'duplicate' })
        await stage.streams({ do: 'reorder', window: 3 })
        await stage.trade()
        await until(async () => (await stage.metric(GAPS, 'cause="missing"')) > 0, 'the gap was noticed')
      })
    }
  },
  {
    id: 'F21',
    title: 'everything comes one byte at a time, or in slices',
    async play(stage) {
      const { sandboxProxy, platformProxy } = stage.world
      sandboxProxy.set('stream', 'both', { sliceBytes: 1 })
      sandboxProxy.set('request', 'both', { sliceBytes: 23 })
      platformProxy.set('stream', 'both', { sliceBytes: 3 })
      await stage.trade()
    }
  },
  {
    id: 'F21',
    title: 'everything comes late, and unevenly so',
    async play(stage) {
      const { sandboxProxy, platformProxy } = stage.world
      sandboxProxy.set('stream', 'both', { latencyMs: 150, jitterMs: 140 })
      sandboxProxy.set('request', 'both', { latencyMs: 120, jitterMs: 110 })
      platformProxy.set('stream', 'both', { latencyMs: 150, jitterMs: 140 })
      await stage.trade()
      assert.ok(
        (await stage.health()).every(health => health === 'live'),
        'late is not lost'
      )
    }
  },
  {
    id: 'F21, S53',
    title: 'a platform reads slowly: it receives everything in the end',
    async play(stage) {
      stage.world.platformProxy.set('stream', 'toClient', { bytesPerSecond: 60_000, sliceBytes: 1_000 })
      await stage.trade(6, 60)
    }
  },
  {
    id: 'F22',
    title: 'a platform’s own socket is reset in the middle of frames',
    async play(stage) {
      const { platformProxy, followers } = stage.world
      const far = followers.get('far')
      const before = far?.connections ?? 0
      // The load goes on until then: a line is cut only when so many bytes have come.
      await stage.tradeDuring(async () => {
        for (let cut = 1; cut <= 4; cut += 1) {
          platformProxy.resetAfter('stream', 'toClient', () => stage.chance.whole(1, 3_000))
          await until(() => (far?.connections ?? 0) >= before + cut && far?.isLive === true, 'it has resumed')
        }
      }, 300)
    }
  },
  {
    id: 'F19',
    title: 'the streams flap',
    async play(stage) {
      const { sandboxProxy, sandbox } = stage.world
      await allLive(stage)
      const connects = await sandbox.requests('stream.connect')
      const began = performance.now()
      const flapping = (async () => {
        while (performance.now() - began < 3_000) {
          sandboxProxy.reset('stream')
          await delay(250)
        }
      })()
      await Promise.all([flapping, stage.trade(6, 200)])
      const seconds = (performance.now() - began) / 1_000
      const made = (await sandbox.requests('stream.connect')) - connects
      assert.ok(made > 0, 'nobody tried to connect again')
      // A burst of a second's worth, and what was spent just before the first was counted.
      const most = CONNECTS_PER_SECOND_MAX * (seconds + 2)
      assert.ok(made <= most, `${made} connects in ${seconds} s`)
    }
  },
  {
    id: 'F18',
    title: 'the connection of every stream is dead, and neither side notices',
    async play(stage) {
      await allLive(stage)
      stage.world.sandboxProxy.set('stream', 'both', { held: true })
      await Promise.all([stage.trade(), noneLive(stage)])
    }
  },
  {
    id: 'F18',
    title: 'the streams fall silent and stay open',
    async play(stage) {
      await allLive(stage)
      await stage.counts(GAPS, 'cause="silence"', stage.world.users.length, async () => {
        await stage.streams({ do: 'mute' })
        await Promise.all([stage.trade(), noneLive(stage)])
        // Nothing comes by stream, and yet everything comes.
        await stage.accord.streamMatchesSandbox(15_000)
      })
    }
  },
  {
    id: 'F19',
    title: 'the sandbox refuses streams: 503, a hang, a reset, nonsense on the connection',
    async play(stage) {
      await stage.injectFaults(
        { on: 'stream.connect', do: 'status', status: 503, times: 3 },
        { on: 'stream.connect', do: 'reset', times: 3 },
        { on: 'stream.connect', do: 'delay', ms: 400, times: 3 }
      )
      await stage.streams({ do: 'garble' })
      await stage.streams({ do: 'drop' })
      await stage.trade(6, 100)
    }
  }
]

async function lastSeq(stage: Stage, userId: string): Promise<number> {
  const { platform } = stage.world
  const { body } = await platform.call('GET', `/events?user_id=${userId}&after=0&limit=1`, platform.headers())
  return body.last_seq
}
