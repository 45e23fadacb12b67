// The thread that keeps the lease.
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { connectTo } from './connect.ts'
import { LeaseDatabase } from './lease-database.ts'
import { ANSWER_SHARE, LeaseKeeper } from './lease-keeper.ts'
import type { Request, ThreadInput } from './messages.ts'
import { SharedLease, sharedMs } from './shared-lease.ts'

const port = parentPort
if (port === null) throw new Error('lease-worker.ts must be started as a thread')
const { url, node, timing, memory }: ThreadInput = workerData
const connect = connectTo({ url, name: `${node.name} lease`, answerMsMax: ANSWER_SHARE * timing.leaseMs })
const keeper = new LeaseKeeper({
  database: new LeaseDatabase(node, timing.leaseMs, connect),
  lease: new SharedLease(memory),
  clock: { nowMs: sharedMs, sleep: async (ms, signal) => void (await sleep(ms, undefined, { signal })) },
  timing,
  post: notice => port.postMessage(notice)
})
port.on('message', (request: Request) => keeper.request(request))
await keeper.run()
port.close()
