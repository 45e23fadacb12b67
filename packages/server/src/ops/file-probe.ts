import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Creates a file in the data directory, writes to it and removes it. Fails without descriptors, space or permission, even while a database
 * with open files still answers.
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
