// The crash points of an order's way: the process dies at each, comes back, and the order is found once, or provably not at all.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { CrashPoint, CrashUser, OrderRecord } from '@trunkline/testkit/crash/index'
import { isWhole } from '@trunkline/testkit/search'
import { until } from '@trunkline/testkit/until'
import { type Engine, Scene } from './scene.ts'

/** How the death is brought about: from inside at a named point, by a cut between service and sandbox, or from outside. */
type Death =
  | { readonly by: 'program'; readonly point: CrashPoint }
  | { readonly by: 'proxy'; readonly share: number; readonly answerBytes: number | null }
  | { readonly by: 'signal'; readonly afterMs: number }

interface Case {
  readonly id: string
  readonly title: string
  /** One run for each. */
  readonly deaths: readonly Death[]
  /** How many orders the sandbox has afterwards, where that is certain. */
  readonly atSandbox: 0 | 1 | null
}

const inside = (point: CrashPoint): Death => ({ by: 'program', point })
const cut = (share: number, answerBytes: number | null = 0): Death => ({ by: 'proxy', share, answerBytes })
const signal = (afterMs: number): Death => ({ by: 'signal', afterMs })
/** With an order that is filled at once, and with one that rests. */
const twice = (death: Death): readonly Death[] => [death, death]

const SUBMITS: readonly Case[] = [
  {
    id: 'C1',
    title: 'validated, before the intent is written',
    deaths: twice(inside({ at: 'before_record', what: 'place' })),
    atSandbox: 0
  },
  {
    id: 'C2',
    title: 'while the intent is written',
    deaths: [0.4, 1, 2].map(ms => inside({ at: 'during_record', what: 'place', ms })),
    atSandbox: 0
  },
  { id: 'C3', title: 'the intent is written', deaths: twice(inside({ at: 'after_record', what: 'place' })), atSandbox: 0 },
  {
    id: 'C4',
    title: 'before the first byte',
    deaths: [inside({ at: 'before_command', what: 'submit' }), inside({ at: 'before_first_byte' }), inside({ at: 'before_first_byte' })],
    atSandbox: 0
  },
  { id: 'C5', title: 'part of the bytes written', deaths: [cut(0.1), cut(0.6), cut(0.99)], atSandbox: 0 },
  { id: 'C6', title: 'all bytes written, no whole answer', deaths: [cut(1, null), cut(1, 0), cut(1, 80)], atSandbox: 1 },
  { id: 'C7', title: 'the answer in memory, not written', deaths: twice(inside({ at: 'after_command', what: 'submit' })), atSandbox: 1 },
  { id: 'C8', title: 'the answer written, ours not given', deaths: twice(inside({ at: 'before_answer' })), atSandbox: 1 },
  { id: 'C9', title: 'the event committed, not published', deaths: twice(inside({ at: 'after_record', what: 'reply' })), atSandbox: 1 },
  { id: 'C10', title: 'published and answered', deaths: [signal(0), signal(1), signal(10)], atSandbox: 1 }
]

const CANCELS: readonly Case[] = [
  {
    id: 'C14',
    title: 'cancel written, not sent',
    deaths: [inside({ at: 'after_record', what: 'cancel' }), inside({ at: 'before_command', what: 'cancel' }), cut(0.5)],
    atSandbox: 1
  },
  {
    id: 'C15',
    title: 'cancel sent, answer lost',
    deaths: [inside({ at: 'after_command', what: 'cancel' }), cut(1, 0), cut(1, null)],
    atSandbox: 1
  }
]

const REPLACES: readonly Case[] = [
  {
    id: 'C16',
    title: 'replace written, or sent and its answer lost',
    deaths: [inside({ at: 'after_record', what: 'replace' }), inside({ at: 'after_command', what: 'replace' }), cut(0.5), cut(1, 0)],
    atSandbox: 1
  }
]

const REPORTS: readonly Case[] = [
  {
    id: 'C11',
    title: 'the broker’s report read, not committed',
    deaths: [inside({ at: 'before_record', what: 'report' })],
    atSandbox: 1
  },
  {
    id: 'C12',
    title: 'the broker’s report committed, not published',
    deaths: [inside({ at: 'after_record', what: 'report' })],
    atSandbox: 1
  }
]

type Failure = Extract<CrashPoint, { readonly at: 'doubtful_record' | 'refused_record' }>

/** F29, F30: the store fails around an order's writes, and the process lives on. */
const FAILURES: readonly { readonly title: string; readonly failure: Failure; readonly status: number; readonly atSandbox: 0 | 1 }[] = [
  { title: 'the intent’s commit is unknown, and happened', failure: unknownCommit('place', true), status: 201, atSandbox: 1 },
  { title: 'the intent’s commit is unknown, and did not happen', failure: unknownCommit('place', false), status: 500, atSandbox: 0 },
  { title: 'the intent’s commit happened, which cannot be read', failure: unknownCommit('place', true, false), status: 500, atSandbox: 0 },
  { title: 'the reply’s commit is unknown, and happened', failure: unknownCommit('reply', true), status: 201, atSandbox: 1 },
  { title: 'the reply’s commit is unknown, and did not happen', failure: unknownCommit('reply', false), status: 201, atSandbox: 1 },
  { title: 'the intent cannot be written', failure: { at: 'refused_record', what: 'place', times: 1 }, status: 503, atSandbox: 0 },
  {
    title: 'the reply cannot be written for a while',
    failure: { at: 'refused_record', what: 'reply', times: 4 },
    status: 201,
    atSandbox: 1
  }
]

function unknownCommit(what: 'place' | 'reply', written: boolean, readable = true): Failure {
  return { at: 'doubtful_record', what, written, readable }
}

export function crashPoints(engine: Engine): void {
  let scene: Scene
  let user: CrashUser
  let resting: Readonly<Record<string, string>>

  before(async () => {
    scene = await Scene.open(engine)
    user = await scene.user()
    resting = { order_type: 'LMT', order_tif: 'GTC', order_limit_price: await scene.sandbox.restingPrice(user.login, 'SPY') }
  })
  after(async () => await scene?.[Symbol.asyncDispose]())

  function cases(
    list: readonly Case[],
    run: (each: Case, death: Death, name: string, shape: Readonly<Record<string, string>>) => Promise<void>
  ) {
    for (const each of list) {
      // A crash point is one on either engine: the embedded one has its first death, PostgreSQL, which costs less, the others.
      const deaths = each.deaths.map((death, seed) => ({ death, seed }))
      for (const { death, seed } of isWhole ? deaths : engine === 'embedded' ? deaths.slice(0, 1) : deaths.slice(1)) {
        const name = `${each.id}-${seed}`
        test(`${engine} ${name} ${each.title}: ${JSON.stringify(death)}`, () => run(each, death, name, seed === 1 ? resting : {}))
      }
    }
  }

  /** Brings the death about while `act` runs, and starts the service again. */
  async function dying(death: Death, requestStart: string, work: () => Promise<unknown>): Promise<void> {
    if (death.by === 'program') await scene.service.arm(death.point)
    if (death.by === 'proxy') scene.proxy.arm({ request: requestStart, ...death, whenCut: () => scene.service.kill() })
    const answer = await work().catch(() => null)
    if (death.by === 'signal') {
      if (death.afterMs > 0) await delay(death.afterMs)
      scene.service.kill()
    }
    // The stream reported everything before the answer did, so there was no reply left to write: then it dies here.
    if (answer !== null && death.by === 'program' && 'what' in death.point && death.point.what === 'reply') scene.service.kill()
    await scene.afterDeath()
  }

  // What happens before the store, or in its place, is the same on either engine.
  const aboveEngine: typeof test | null = isWhole || engine === 'postgres' ? test : null
  aboveEngine?.(`${engine} C0 half a body`, async () => {
    for (const share of [0.1, 0.5, 0.95]) {
      const name = `C0-${share}`
      await halfBody(user, name, share)
      scene.service.kill()
      await scene.afterDeath()
      assert.equal(await user.named(name), null)
      assert.equal((await user.place(name)).status, 201)
      assert.equal((await scene.ordersOf(await scene.settled(user, name))).accepted, 1)
    }
  })

  cases(SUBMITS, async ({ atSandbox }, death, name, shape) => {
    await dying(death, 'POST /api/v1/orders HTTP', () => user.place(name, shape))
    const stored = await user.named(name)
    if (stored === null) {
      assert.ok(name.startsWith('C1-') || name.startsWith('C2-'), 'an intent was forgotten')
      assert.equal((await user.place(name, shape)).status, 201)
      assert.equal((await scene.ordersOf(await scene.settled(user, name))).accepted, 1)
      return
    }
    assert.ok(!name.startsWith('C1-'), 'an intent was written before its time')
    const order = await scene.settled(user, name)
    assert.equal((await scene.ordersOf(order)).accepted, atSandbox)
    assert.equal(order.submission.state, atSandbox === 0 ? 'not_received' : 'acknowledged')
    await refusedAgain(user, name, order)
  })

  cases(CANCELS, async ({ atSandbox }, death, name) => {
    const { body } = await user.place(name, resting)
    assert.equal(body.normalized_status, 'working', JSON.stringify(body))
    await dying(death, 'DELETE /api/v1/orders/', () => user.cancel(body.order_id))
    const order = await scene.settled(user, name)
    assert.equal(order.normalized_status, 'cancelled')
    assert.equal((await scene.ordersOf(order)).accepted, atSandbox)
  })

  cases(REPLACES, async (_case, death, name) => {
    const { body } = await user.place(name, resting)
    assert.equal(body.normalized_status, 'working', JSON.stringify(body))
    await dying(death, 'POST /api/v1/orders/', () => user.modify(body.order_id, `${name}-next`, { order_qty: '3' }))
    const [old, next] = [await scene.settled(user, name), await scene.settled(user, `${name}-next`)]
    const working = [old, next].filter(order => order.normalized_status === 'working')
    assert.equal(working.length, 1, 'exactly one of the two works')
    assert.equal(old.normalized_status === 'replaced', next.normalized_status === 'working')
    assert.equal(old.replaced_by_order_id, old.normalized_status === 'replaced' ? next.order_id : null)
  })

  for (const [index, { title, failure, status, atSandbox }] of FAILURES.entries()) {
    aboveEngine?.(`${engine} F30 ${title}`, async () => {
      const name = `F30-${index}`
      await scene.service.arm(failure)
      const answer = await user.place(name)
      assert.equal(answer.status, status, JSON.stringify(answer.body))
      if (status !== 201 && (await user.named(name)) === null) {
        assert.equal((await user.place(name)).status, 201, 'it can be placed again')
        assert.equal((await scene.ordersOf(await scene.settled(user, name))).accepted, 1)
        return
      }
      const order = await scene.settled(user, name)
      assert.equal((await scene.ordersOf(order)).accepted, atSandbox)
      await refusedAgain(user, name, order)
    })
  }

  cases(REPORTS, async ({ atSandbox }, death, name) => {
    const { body } = await user.place(name, resting)
    assert.equal(body.normalized_status, 'working', JSON.stringify(body))
    const stored = await scene.service.order(body.order_id)
    await dying(death, '', async () => {
      await scene.sandbox.control('POST', `/orders/${stored?.brokerOrderId}/cancel`)
      await until(() => !scene.service.isRunning, 'the service has died')
    })
    const order = await scene.settled(user, name)
    assert.equal(order.normalized_status, 'cancelled')
    assert.equal((await scene.ordersOf(order)).accepted, atSandbox)
  })
}

/** A repetition of the request is refused, and names the order. */
async function refusedAgain(user: CrashUser, name: string, order: OrderRecord): Promise<void> {
  const again = await user.place(name)
  assert.equal(again.status, 409, JSON.stringify(again.body))
  assert.match(again.body.message, new RegExp(order.order_id))
}

/** Sends an order request's head and part of its body, and leaves it at that. */
async function halfBody(user: CrashUser, name: string, share: number): Promise<void> {
  const body = JSON.stringify(user.ticket(name))
  const headers = { ...user.headers(), 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
  const partial = request(`${user.url}/orders`, { method: 'POST', headers })
  partial.on('error', () => undefined)
  await new Promise<void>(resolve => partial.write(body.slice(0, Math.floor(body.length * share)), () => resolve()))
}
