// Loaded into a program under test before its first line, and into its threads: makes its wall clock settable. The monotonic clock is
// unchanged.
import { BroadcastChannel, isMainThread } from 'node:worker_threads'

const RealDate = Date
const realInstant = Temporal.Now.instant
const threads = new BroadcastChannel('the wall clock')
let aheadMs = 0

function now(): number {
  return RealDate.now() + aheadMs
}

globalThis.Date = new Proxy(RealDate, {
  construct: (real, given, of) => Reflect.construct(real, given.length === 0 ? [now()] : given, of),
  get: (real, name) => (name === 'now' ? now : Reflect.get(real, name))
})
Object.defineProperty(Temporal.Now, 'instant', { value: () => realInstant().add({ milliseconds: aheadMs }) })

function set(ms: number): void {
  aheadMs = ms
}

threads.onmessage = message => {
  if (typeof message === 'object' && message !== null && 'data' in message) set(Number(message.data))
}
threads.unref()

if (isMainThread) {
  process.on('message', (question: { readonly id: number; readonly ask: string; readonly aheadMs?: number }) => {
    if (question.ask !== 'clock') return
    set(question.aheadMs ?? 0)
    threads.postMessage(aheadMs)
    process.send?.({ id: question.id, answer: new Date().toISOString() })
  })
  process.channel?.unref()
}
