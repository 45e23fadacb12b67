/** The judges' programs, installed from their lock file: a test that needs one fails where that is not possible. */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '@trunkline/testkit/until'

const FOLDER = import.meta.dirname
const STAMP = join(FOLDER, 'node_modules', '.installed')
/** One at a time; one that was left behind is taken over. */
const LATCH = join(FOLDER, 'node_modules', '.installing')
const LATCH_MS_MAX = 10 * 60_000

let installing: Promise<void> | undefined

/** @throws Error with npm's message when the programs cannot be installed */
export function judgesInstalled(): Promise<void> {
  installing ??= install()
  return installing
}

async function install(): Promise<void> {
  const wanted = createHash('sha256')
    .update(readFileSync(join(FOLDER, 'package-lock.json')))
    .digest('hex')
  if (stamped() === wanted) return
  await latched(async () => {
    // Somebody else may have been quicker.
    if (stamped() === wanted) return
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']
    await promisify(execFile)('npm', ['install', '--no-save', ...quiet], { cwd: FOLDER, timeout: LATCH_MS_MAX })
    writeFileSync(STAMP, wanted)
  })
}

function stamped(): string | null {
  try {
    return readFileSync(STAMP, 'utf8')
  } catch {
    return null
  }
}

/** A folder is made by one process only. */
async function latched(work: () => Promise<void>): Promise<void> {
  mkdirSync(join(FOLDER, 'node_modules'), { recursive: true })
  await until(isTaken, 'the judges are installed by another test', LATCH_MS_MAX)
  try {
    await work()
  } finally {
    rmSync(LATCH, { recursive: true, force: true })
  }
}

function isTaken(): boolean {
  if (isLeft()) rmSync(LATCH, { recursive: true, force: true })
  try {
    mkdirSync(LATCH)
    return true
  } catch {
    return false
  }
}

function isLeft(): boolean {
  try {
    return Date.now() - statSync(LATCH).mtimeMs > LATCH_MS_MAX
  } catch {
    return false
  }
}
