/** Master keys from a command's output, for key management services. */
import { spawnSync } from 'node:child_process'
import { KeyFileRefused } from './key-file.ts'
import { type KeySet, parseKeySet } from './master-keys.ts'

const COMMAND_MS_MAX = 15_000
const OUTPUT_BYTES_MAX = 64 * 1024

/**
 * Runs the command without a shell: spaces separate words, and nothing is expanded. Its standard output is a list of keys as in
 * TRUNKLINE_MASTER_KEYS; its output is never shown or logged.
 * @throws KeyFileRefused
 */
export function keysFromCommand(command: string): KeySet {
  const [program, ...args] = command.split(/ +/).filter(word => word !== '')
  if (program === undefined) throw new KeyFileRefused('TRUNKLINE_MASTER_KEYS_COMMAND gave no keys: it names no program')
  const { status, signal, stdout, error } = spawnSync(program, args, {
    timeout: COMMAND_MS_MAX,
    killSignal: 'SIGKILL',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'ignore'],
    windowsHide: true
  })
  const how = faultOf(error, status, signal)
  if (how !== null) throw new KeyFileRefused(`TRUNKLINE_MASTER_KEYS_COMMAND gave no keys: ${how}`)
  try {
    return parseKeySet(stdout.toString('utf8'))
  } catch (cause) {
    // The parser names the faulty item, never its contents.
    throw new KeyFileRefused(`TRUNKLINE_MASTER_KEYS_COMMAND gave no keys: ${cause instanceof Error ? cause.message : 'unreadable'}`)
  } finally {
    stdout.fill(0)
  }
}

function faultOf(error: (Error & { readonly code?: string }) | undefined, status: number | null, signal: string | null): string | null {
  if (error?.code === 'ETIMEDOUT') return `it did not end within ${COMMAND_MS_MAX / 1_000} seconds`
  if (error?.code === 'ENOBUFS') return `it printed more than ${OUTPUT_BYTES_MAX / 1_024} KiB`
  if (error !== undefined) return `it could not be run (${error.code ?? 'no reason given'})`
  if (status !== 0) return signal === null ? `it ended with ${status}` : `it was ended by ${signal}`
  return null
}
