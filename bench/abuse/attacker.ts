// Sends unwanted requests, in a separate process.
import { setTimeout as pause } from 'node:timers/promises'
import { Agent } from 'undici'
import { answering } from '../harness/workers.ts'
import type { Attacked, AttackerRequests, AttackPlan } from './attacker-requests.ts'

/** Requests at a fixed rate that may be in flight; further ones are skipped, and the reported rate is lower. */
const UNDER_WAY_MAX = 1_000
const TICK_MS = 5

answering<AttackerRequests>({ attack })

async function attack(plan: AttackPlan): Promise<Attacked> {
  const agent = new Agent({ connections: plan.connections, pipelining: 1 })
  const statuses: Record<string, number> = {}
  const began = performance.now()
  const endsAt = began + 1_000 * plan.seconds
  let number = 0
  const one = async () => {
    const request = requestOf(plan, number)
    number += 1
    try {
      const { statusCode, body } = await agent.request({ origin: plan.baseUrl, method: 'GET', ...request })
      await body.dump()
      statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
    } catch {
      statuses.failed = (statuses.failed ?? 0) + 1
    }
  }
  if (plan.perSecond === null) await Promise.all(Array.from({ length: plan.connections }, () => again(one, endsAt)))
  else await atMost(plan.perSecond, endsAt, one)
  const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0)
  await agent.close()
  return { perSecond: answered / ((performance.now() - began) / 1_000), statuses }
}

async function again(one: () => Promise<void>, endsAt: number): Promise<void> {
  while (performance.now() < endsAt) await one()
}

async function atMost(perSecond: number, endsAt: number, one: () => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>()
  for (let last = performance.now(); last < endsAt; ) {
    await pause(TICK_MS)
    const now = performance.now()
    const due = Math.min(Math.round(((now - last) * perSecond) / 1_000), UNDER_WAY_MAX - running.size)
    last = now
    for (let count = 0; count < due; count += 1) {
      const request = one().finally(() => running.delete(request))
      running.add(request)
    }
  }
  await Promise.all(running)
}

function requestOf(
  { attack, addresses, headers }: AttackPlan,
  number: number
): { readonly path: string; readonly headers: Record<string, string> } {
  const at = number % addresses
  const from = { 'x-forwarded-for': `203.${at >> 16}.${(at >> 8) & 255}.${at & 255}` }
  if (attack === 'metricsReaders') return { path: '/metrics', headers: from }
  if (attack === 'userFlood')
    return { path: `/orders?limit=50&start_time=${2_000 + (number % 20)}-01-01T00:00:00Z`, headers: { ...headers, ...from } }
  const id = number % 2 === 0 ? (headers['client-id'] ?? '') : `unknown-${number}`
  return { path: '/users', headers: { ...from, 'client-id': id, 'client-secret': `wrong-${number}-0123456789abcdef0123456789abcdef` } }
}
