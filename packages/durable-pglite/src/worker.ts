/** The engine's thread: answers wire messages in order, one at a time. */
import { parentPort, workerData } from 'node:worker_threads'
import { type Engine, openEngine, provesDurability } from './engine.ts'
import { EngineRefused } from './errors.ts'
import { CLOSE, LEAVE, type ThreadInput, type ThreadNotice } from './messages.ts'

const port = parentPort
if (port === null) throw new Error('worker.ts must be started as a thread')
const input: ThreadInput = workerData
const notify = (notice: ThreadNotice) => port.postMessage(notice)

async function open(): Promise<Engine | null> {
  try {
    const engine = await openEngine(input)
    provesDurability(engine, input.fsyncs)
    return engine
  } catch (error) {
    notify({
      kind: 'refused',
      reason: error instanceof EngineRefused ? error.reason : 'damaged',
      message: error instanceof Error ? error.message : String(error)
    })
    return null
  }
}

const engine = await open()
if (engine === null) port.close()
else {
  port.on('message', async (message: unknown) => {
    if (message instanceof Uint8Array) {
      const answer = engine.exchange(message)
      port.postMessage(answer, [answer.buffer])
    } else if (message === CLOSE) {
      await engine.close()
      notify({ kind: 'closed' })
      port.close()
    } else if (message === LEAVE) {
      // Not the engine's own shutdown: that begins with a checkpoint.
      process.exit(0)
    }
  })
  notify({ kind: 'ready' })
}
