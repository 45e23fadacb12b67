/** The client of the fan-out measurement: sessions that count what they receive; some of them read every update's number. */

import { setTimeout as pause } from 'node:timers/promises'
import { answering } from '../../harness/workers.ts'
import type { ClientRequests } from '../fanout/requests.ts'
import { Checks } from './checks.ts'
import { Session, type SessionPlan } from './session.ts'
import { sharedNow } from './stamps.ts'

/** One in this many sessions reads every update, from any server; the others only skip over the frames. */
const CHECKED_EVERY = 10
const OPENED_AT_ONCE = 20
const SETTLE_MS = 5_000

interface Counter {
  updates: number
  readonly checks: Checks | null
}

const counters: Counter[] = []
let total = 0

answering<ClientRequests>({
  async open(plans) {
    for (let from = 0; from < plans.length; from += OPENED_AT_ONCE) {
      await Promise.all(plans.slice(from, from + OPENED_AT_ONCE).map(open))
    }
    return null
  },
  count() {
    const { user, system } = process.cpuUsage()
    return { updates: total, at: sharedNow(), cpuMs: (user + system) / 1_000 }
  },
  async settle(expected) {
    const until = sharedNow() + SETTLE_MS
    while (counters.some(({ updates }, index) => updates < (expected[index] ?? 0)) && sharedNow() < until) await pause(10)
    // Any excess update arrives soon after.
    await pause(50)
    const checked = counters.flatMap(({ checks }) => checks ?? [])
    return {
      updates: counters.map(({ updates }) => updates),
      checked: checked.length,
      faults: checked.reduce((sum, { faults }) => sum + faults, 0),
      firstFault: checked.find(({ first }) => first !== null)?.first ?? null
    }
  }
})

async function open(plan: SessionPlan): Promise<void> {
  const counter: Counter = { updates: 0, checks: counters.length % CHECKED_EVERY === 0 ? new Checks() : null }
  counters.push(counter)
  const { checks } = counter
  const session = await Session.open(plan, (bytes, start) => {
    counter.updates += 1
    total += 1
    checks?.receive(bytes, start)
  })
  void session.closed.then(code => process.stderr.write(`a session was closed with ${code}\n`))
}
