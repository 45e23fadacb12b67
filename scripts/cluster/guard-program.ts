// The process of guard.ts: reads which processes begin and end, and ends those that are left when its input closes.
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

const GRACE_MS = 15_000
const POLL_MS = 200

const left = new Map<number, NodeJS.Signals>()

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
for await (const line of createInterface({ input: process.stdin })) {
  const [, what, pid, signal] = /^(began|ended) (\d+)(?: (SIGTERM|SIGINT))?$/.exec(line) ?? []
  if (what === 'began') left.set(Number(pid), signal === 'SIGINT' ? 'SIGINT' : 'SIGTERM')
  if (what === 'ended') left.delete(Number(pid))
}
for (const [pid, signal] of left) {
  send(pid, signal)
  // A paused one handles the signal only when it continues.
  send(pid, 'SIGCONT')
}
const deadline = performance.now() + GRACE_MS
while (performance.now() < deadline && [...left.keys()].some(pid => send(pid, 0))) await delay(POLL_MS)
for (const pid of left.keys()) send(pid, 'SIGKILL')

/** Whether there is such a process. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
