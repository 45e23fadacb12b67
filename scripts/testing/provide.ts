// The services that tests need: a PostgreSQL that the whole run shares, a browser, and the program of NATS.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { CHROMIUM_VARIABLE, findChromium } from '@trunkline/testkit/chromium'
import { findNatsServer, NATS_MISSING, NATS_VARIABLE } from '@trunkline/testkit/nats/index'
import { SHARED_URL_VARIABLE, startPostgres } from '@trunkline/testkit/postgres/index'
import type { Service } from './files.ts'

/** A running service, or the reason why there is none. */
export type Provided = { readonly stop: () => Promise<void> } | { readonly reason: string }

/** Provides a service to all test processes started from now on, through their environment. Never throws. */
export const provide: Readonly<Record<Service, (print: (text: string) => void) => Promise<Provided>>> = {
  async postgres(print) {
    if ((process.env[SHARED_URL_VARIABLE] ?? '') !== '') return { stop: async () => {} }
    const began = performance.now()
    try {
      const server = await startPostgres()
      process.env[SHARED_URL_VARIABLE] = server.url
      print(`PostgreSQL started in ${Math.round(performance.now() - began)} ms.`)
      return { stop: () => server.stop() }
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error) }
    }
  },

  async chromium(print) {
    const path = findChromium() ?? (await install('chromium', print, findChromium))
    if (path === null) {
      return {
        reason: `No Chromium was found, and it could not be installed. Install chromium or google-chrome, or name it in ${CHROMIUM_VARIABLE}.`
      }
    }
    process.env[CHROMIUM_VARIABLE] = path
    return { stop: async () => {} }
  },

  // Each test starts its own, in a tenth of a second.
  async nats(print) {
    // Where services run, its package would start one.
    const path = findNatsServer() ?? (existsSync('/run/systemd/system') ? null : await install('nats-server', print, findNatsServer))
    if (path === null) return { reason: NATS_MISSING }
    process.env[NATS_VARIABLE] = path
    return { stop: async () => {} }
  }
}

// Only on Debian and its derivatives, and only as root: elsewhere a test run must not change the system.
async function install(name: string, print: (text: string) => void, find: () => string | null): Promise<string | null> {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return null
  print(`Installing ${name} from the packages of the system (once) …`)
  const isDone = (await apt(['update'])) && (await apt(['install', '-y', '--no-install-recommends', name]))
  return isDone ? find() : null
}

function apt(args: readonly string[]): Promise<boolean> {
  return new Promise(resolve => {
    const child = spawn('apt-get', ['-qq', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    })
    child.once('error', () => resolve(false))
    child.once('close', code => resolve(code === 0))
  })
}
