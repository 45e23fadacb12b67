// The services that tests need: a PostgreSQL that the whole run shares, and a browser.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { CHROMIUM_VARIABLE, findChromium } from '@trunkline/testkit/chromium'
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
    const path = findChromium() ?? (await installChromium(print))
    if (path === null) {
      return {
        reason: `No Chromium was found, and it could not be installed. Install chromium or google-chrome, or name it in ${CHROMIUM_VARIABLE}.`
      }
    }
    process.env[CHROMIUM_VARIABLE] = path
    return { stop: async () => {} }
  }
}

// Only on Debian and its derivatives, and only as root: elsewhere a test run must not change the system.
async function installChromium(print: (text: string) => void): Promise<string | null> {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return null
  print('Installing Chromium from the packages of the system (once) …')
  const isDone = (await apt(['update'])) && (await apt(['install', '-y', '--no-install-recommends', 'chromium']))
  return isDone ? findChromium() : null
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
