// One cluster at a time runs in a data directory. The kernel ends the hold with its process, however that ends.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type KernelLock, takeKernelLock } from '@trunkline/files/kernel-lock'
import { writePrivately } from './files.ts'

/** @param port of the balancer @throws Error that says which cluster runs there already, and what to do */
export function holdFolder(dataDir: string, port: number): KernelLock {
  const note = join(dataDir, 'running')
  const lock = takeKernelLock(join(dataDir, 'running.lock'))
  if (lock !== null) {
    writePrivately(note, `process ${process.pid}, at http://127.0.0.1:${port}\n`)
    return lock
  }
  const which = existsSync(note) ? readFileSync(note, 'utf8').trim() : 'it is just starting'
  throw new Error(
    `a cluster runs in ${dataDir} already (${which}). ` +
      'Use that one, end it with Ctrl-C in its terminal, or start another with --data-dir and --port.'
  )
}
