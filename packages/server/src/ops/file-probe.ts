import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Makes a file in the data directory, writes to it and removes it: fails when there are no descriptors, no space or no permission left, also while
 * a database that has its files open still answers.
 */
export async function probeFiles(folder: string): Promise<void> {
  const path = join(folder, '.readiness-probe')
  const file = await open(path, 'w', 0o600)
  try {
    await file.write('ready')
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}
