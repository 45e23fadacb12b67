// The commands on standard input: one a line, each answered by a line.

import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

export interface CommandTargets {
  kill(name: string): Promise<string>
  pause(name: string): Promise<string>
  stop(name: string): Promise<string>
  drain(name: string): Promise<string>
  start(name: string): Promise<string>
}

const HELP =
  'Commands: status, kill 2, pause 2, stop 2, drain 2, start 2 (or database, nats, sandbox in place of the number, except of drain); Ctrl-C ends everything.'

/** Runs a command and resolves to its answer, also where it fails. */
export async function runCommand(line: string, targets: CommandTargets, status: () => string): Promise<string> {
  const [verb = '', name, ...more] = line.trim().split(/\s+/)
  try {
    if (verb === 'status' && name === undefined) return status()
    if (name === undefined || more.length > 0) return HELP
    switch (verb) {
      case 'kill':
        return await targets.kill(name)
      case 'pause':
        return await targets.pause(name)
      case 'stop':
        return await targets.stop(name)
      case 'drain':
        return await targets.drain(name)
      case 'start':
        return await targets.start(name)
      default:
        return HELP
    }
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}

/** Reads commands until the input ends; a stop does not hold up the next one. */
export function readCommands(input: Readable, run: (line: string) => Promise<string>, print: (text: string) => void): () => void {
  const lines = createInterface({ input })
  lines.on('line', line => {
    if (line.trim() !== '') void run(line).then(print)
  })
  return () => lines.close()
}
