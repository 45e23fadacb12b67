// Keeps what testkit/resolutions knows in step with what is installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { readResolutions } from '@trunkline/testkit/resolutions/table'

const PROGRAM = fileURLToPath(new URL('learn.ts', import.meta.url))

/** Learns where the modules of installed packages lie, unless that is known. Without it, tests take longer and nothing else. */
export async function ensureLearned(say: (text: string) => void): Promise<void> {
  if (readResolutions() !== null) return
  const child = spawn(process.execPath, [PROGRAM], { stdio: 'ignore' })
  const [code] = await once(child, 'close')
  if (code !== 0) say('Where the modules of packages lie could not be learned: starts will take longer.')
}
