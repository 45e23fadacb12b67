// The NATS server of the cluster: in memory only, because it may lose everything without a loss.
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { join } from 'node:path'
import { findNatsServer } from '@trunkline/testkit/nats/program'
import { secretIn, writePrivately } from './files.ts'
import type { Program } from './program.ts'

const USER = 'trunkline'
const ANSWER_MS = 1_000

export interface Nats {
  readonly program: Program
  readonly url: string
}

/** @throws Error that says what to install if there is no server */
export function nats(dataDir: string, port: number, logFile: string, env: Readonly<Record<string, string | undefined>>): Nats {
  const command = findNatsServer(env)
  if (command === null)
    throw new Error(
      'there is no nats-server on the path. Install it: on Debian and Ubuntu `apt-get install nats-server`, on macOS `brew install nats-server`.'
    )
  const password = secretIn(join(dataDir, 'nats-password'), () => randomBytes(18).toString('hex'))
  const config = join(dataDir, 'nats.conf')
  writePrivately(config, configOf(port, password))
  return {
    url: `nats://${USER}:${password}@127.0.0.1:${port}`,
    program: {
      ...{ name: 'nats', title: 'NATS', address: `127.0.0.1:${port}`, logFile, runAs: null },
      ...{ command, args: ['--config', config], env: {} },
      ...{ endSignal: 'SIGTERM', endMs: 10_000, restarts: false },
      isReady: () => greets(port)
    }
  }
}

// In a file, and not among the arguments: those can be read by every user of the machine.
function configOf(port: number, password: string): string {
  return [`listen: "127.0.0.1:${port}"`, 'authorization {', `  user: ${USER}`, `  password: "${password}"`, '}', ''].join('\n')
}

/** A NATS server sends a line before anything is asked. */
function greets(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ host: '127.0.0.1', port, timeout: ANSWER_MS })
    const end = (isReady: boolean) => {
      socket.destroy()
      resolve(isReady)
    }
    socket.once('data', data => end(data.toString('latin1').startsWith('INFO ')))
    for (const event of ['error', 'timeout', 'close'] as const) socket.once(event, () => end(false))
  })
}
