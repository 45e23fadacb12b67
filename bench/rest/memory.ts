import { setTimeout as pause } from 'node:timers/promises'
import { residentMb } from '../harness/processes.ts'
import type { Stage } from '../harness/stage.ts'
import { line } from '../harness/stats.ts'

const TARGET_MB = { postgres: 180, embedded: 450 }
const CALM_MS = 5_000

/** Resident memory of the idle service. */
export async function memory({ engine, service }: Stage): Promise<readonly string[]> {
  await pause(CALM_MS)
  const found = residentMb(service.pid)
  return [line('resident memory at idle', `${found.toFixed(0)} MB`, `at most ${TARGET_MB[engine]} MB`, found <= TARGET_MB[engine])]
}
