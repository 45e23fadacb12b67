// C21: a stop while fifty submissions are on the wire. Nothing new is taken, the process ends in time, and no order is lost or doubled.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isWhole } from '@trunkline/testkit/search'
import { until } from '@trunkline/testkit/until'
import { type Engine, Scene } from './scene.ts'

const ORDERS = 50
/** Beyond what a stop waits for. */
const LATE_MS = 40_000

/** How long commands and answers may take, and how late the sandbox answers: sooner than the stop's patience, later than it, never. */
const CASES = [
  { title: 'answers that come while it waits', env: {}, fault: { do: 'delay', ms: 1_500, after: true } },
  { title: 'orders taken only after it has gone', env: {}, fault: { do: 'delay', ms: 4_000 } },
  {
    title: 'answers that come after its patience',
    env: { TRUNKLINE_COMMAND_MS: '30000', TRUNKLINE_ANSWER_WITHIN_MS: '5000' },
    fault: { do: 'delay', ms: LATE_MS, after: true }
  }
]

export function shutdown(engine: Engine): void {
  describe(`${engine}: C21 SIGTERM with ${ORDERS} submits in flight`, { concurrency: true }, () => {
    // How a stop waits does not depend on the engine; that it leaves the embedded one whole is seen with the longest.
    for (const { title, env, fault } of isWhole || engine === 'postgres' ? CASES : CASES.slice(-1)) {
      test(title, () =>
        Scene.play(engine, { TRUNKLINE_ABSENCE_SECONDS: '3', ...env }, async scene => {
          const user = await scene.user()
          await user.place('before')
          await scene.settled(user, 'before')
          await scene.sandbox.fault({ on: 'orders.submit', times: ORDERS, ...fault })
          const before = await scene.sandbox.requests('orders.submit')
          const names = Array.from({ length: ORDERS }, (_, index) => `o${index}`)
          const answers = names.map(name => user.place(name).catch(() => null))
          await until(async () => (await scene.sandbox.requests('orders.submit')) === before + ORDERS, 'all submits are at the sandbox')

          scene.service.kill('SIGTERM')
          const late = refusedSoon(() => user.place('late'))
          assert.equal(await scene.service.ended(), 0, scene.service.output.slice(-4_000))
          await late
          for (const answer of await Promise.all(answers)) assert.equal(answer?.status, 201, 'a request that was taken was answered')

          await scene.restart()
          for (const name of names) {
            const order = await scene.settled(user, name)
            const { accepted, received } = await scene.ordersOf(order)
            assert.deepEqual([accepted, received], [1, 1])
          }
          const others = (await user.orders()).filter(order => !names.includes(order.cl_order_id))
          for (const order of others) await scene.settled(user, order.cl_order_id)
          assert.ok(others.length <= 2, 'the one before, and one that came while the listener closed')
        })
      )
    }
  })

  /** The listener closes at once: a request that comes after the signal is refused before long. */
  async function refusedSoon(place: () => Promise<{ readonly status: number }>): Promise<void> {
    await until(async () => {
      const answer = await place().catch(() => null)
      return answer === null || answer.status === 503
    }, 'the listener is closed')
  }
}
