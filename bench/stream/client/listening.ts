/** The client of the pipeline measurement: a platform's session, and a listener to the broker's own streams. */

import { answering } from '../../harness/workers.ts'
import { tokenOf } from '../sandbox/rest.ts'
import { Checks } from './checks.ts'
import { RawSocket } from './raw-socket.ts'
import { Session, type SessionPlan } from './session.ts'
import { Stamps, sharedNow } from './stamps.ts'
import { userNumber } from './update.ts'

export interface Received {
  /** Updates since the session was opened. */
  readonly updates: number
  /** The number of expected updates that arrived. */
  readonly came: number
  readonly faults: number
  readonly firstFault: string | null
}

/** Milliseconds from the due time to arrival, by the update's number; NaN for missing ones. */
export interface Latencies {
  readonly service: Float64Array
  /** At the broker's own stream; empty without a listener there. */
  readonly direct: Float64Array
  /** From the first to the last arrival at the session. */
  readonly spanMs: number
}

export type ListenerRequests = {
  readonly open: { readonly input: SessionPlan; readonly output: null }
  /** Listens to the streams of the sandbox's first logins. */
  readonly direct: { readonly input: { readonly sandboxUrl: string; readonly logins: number }; readonly output: null }
  /** From now on, reports the number of received updates to the sandbox. */
  readonly pace: { readonly input: { readonly sandboxUrl: string }; readonly output: null }
  /** The number of stamped updates to expect. */
  readonly expect: { readonly input: number; readonly output: null }
  readonly received: { readonly input: null; readonly output: Received }
  /** The newest received `seq` of each user, by the user's number. */
  readonly newest: { readonly input: null; readonly output: ReadonlyMap<number, number> }
  readonly latencies: { readonly input: null; readonly output: Latencies }
}

/** A login without any updates. */
const UNUSED_LOGIN = 1_000_000

const checks = new Checks()
let updates = 0
let [service, direct] = [new Stamps(0), new Stamps(0)]
let isListening = false
let pacer: RawSocket | null = null
let isDue = false

answering<ListenerRequests>({
  async open(plan) {
    const session = await Session.open(plan, (bytes, start, end) => {
      updates += 1
      checks.receive(bytes, start)
      service.receive(bytes, start, end, sharedNow())
      if (pacer !== null) reportSeen(pacer)
    })
    checks.begin(numbersOf(session.startsAfter))
    void session.closed.then(code => process.stderr.write(`the session was closed with ${code}\n`))
    return null
  },
  async direct({ sandboxUrl, logins }) {
    isListening = true
    for (let login = 0; login < logins; login += 1) {
      await listen(sandboxUrl, login, (bytes, start, end) => direct.receive(bytes, start, end, sharedNow()))
    }
    return null
  },
  async pace({ sandboxUrl }) {
    pacer = await listen(sandboxUrl, UNUSED_LOGIN, () => undefined)
    return null
  },
  expect(total) {
    service = new Stamps(total)
    direct = new Stamps(isListening ? total : 0)
    return null
  },
  received: () => ({ updates, came: service.came, faults: checks.faults, firstFault: checks.first }),
  newest: () => checks.newest(),
  latencies: () => ({ service: service.latencies(), direct: direct.latencies(), spanMs: service.spanMs() })
})

async function listen(
  sandboxUrl: string,
  login: number,
  onMessage: (bytes: Buffer, start: number, end: number) => void
): Promise<RawSocket> {
  const socket = await RawSocket.open({ url: `${sandboxUrl.replace(/^http/, 'ws')}/stream/v1`, onMessage })
  socket.send(JSON.stringify({ op: 'login', token: tokenOf(login) }))
  return socket
}

/** Once for all that arrived in a turn. */
function reportSeen(sandbox: RawSocket): void {
  if (isDue) return
  isDue = true
  setImmediate(() => {
    isDue = false
    sandbox.send(JSON.stringify({ op: 'saw', n: service.came }))
  })
}

function numbersOf(startsAfter: ReadonlyMap<string, number>): ReadonlyMap<number, number> {
  const name = (userId: string) => {
    const bytes = Buffer.from(userId)
    return userNumber(bytes, { seq: 0, userAt: 0, userEnd: bytes.length })
  }
  return new Map([...startsAfter].map(([userId, seq]) => [name(userId), seq]))
}
