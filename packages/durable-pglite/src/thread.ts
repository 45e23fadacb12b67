/** Starts and stops the engine's thread, and the process that creates a database. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { FileSystemHook } from './durable-fs.ts'
import { EngineRefused } from './errors.ts'
import { beginMaking, finishMaking, isReady, type Layout } from './layout.ts'
import { WorkerLink } from './link.ts'
import { memoryWarning, whyNotMade } from './making.ts'
import { type CLOSE, type CreateInput, isThreadNotice, type LEAVE, type ThreadInput, type ThreadNotice } from './messages.ts'

/** The process that creates a database runs for seconds: optimized compilation would cost a third more and gain nothing. */
const COMPILED_ONCE = ['--liftoff-only']

export interface EngineThread {
  readonly link: WorkerLink
  /** Ends the thread: shuts the engine down cleanly, or leaves the database unchanged. */
  close(how: typeof CLOSE | typeof LEAVE): Promise<void>
}

/** Creates the database unless it exists. Reports likely obstacles before. @throws EngineRefused */
export async function makeDatabase(layout: Layout, hook: FileSystemHook | null, warn: (warning: string) => void): Promise<void> {
  if (isReady(layout)) return
  const warning = memoryWarning(process.availableMemory())
  if (warning !== null) warn(warning)
  const folder = beginMaking(layout, warn)
  const input: CreateInput = { directory: folder, hook }
  try {
    await promisify(execFile)(process.execPath, [
      ...COMPILED_ONCE,
      fileURLToPath(new URL('./create.ts', import.meta.url)),
      JSON.stringify(input)
    ])
  } catch (cause) {
    throw new EngineRefused('creation_failed', `The database in ${layout.directory} could not be created: ${whyNotMade(cause)}`, { cause })
  }
  finishMaking(layout, folder)
}

/**
 * Starts the engine and waits until it has proved that its commits reach the disk.
 * @param onLost called once if the thread ends without being closed
 * @throws EngineRefused
 */
export async function startThread(input: ThreadInput, onLost: (cause: Error) => void): Promise<EngineThread> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: input })
  const link = new WorkerLink(worker)
  const notice = await firstNotice(worker)
  if (notice.kind === 'refused') throw new EngineRefused(notice.reason, notice.message)
  let closing = false
  const lose = (cause: Error): void => {
    if (closing) return
    closing = true
    link.lose(cause)
    onLost(cause)
  }
  worker.on('error', error => lose(error instanceof Error ? error : new Error(String(error))))
  worker.on('exit', code => lose(new Error(`the engine's thread ended with ${code}`)))
  return {
    link,
    async close(how) {
      if (closing) return
      closing = true
      const ended = new Promise(resolve => worker.once('exit', resolve))
      worker.postMessage(how)
      await ended
    }
  }
}

function firstNotice(worker: Worker): Promise<ThreadNotice> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      worker.off('message', onMessage)
      worker.off('error', onError)
      worker.off('exit', onExit)
    }
    const onMessage = (message: unknown): void => {
      if (!isThreadNotice(message)) return
      settle()
      resolve(message)
    }
    const onError = (error: unknown): void => {
      settle()
      reject(error)
    }
    const onExit = (code: number): void => {
      settle()
      reject(new Error(`the engine's thread ended with ${code} before it was ready`))
    }
    worker.on('message', onMessage)
    worker.on('error', onError)
    worker.on('exit', onExit)
  })
}
