// Finds the system's Chromium for browser tests; nothing is downloaded.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The variable that names the browser's program for a test run. */
export const CHROMIUM_VARIABLE = 'TRUNKLINE_TEST_CHROMIUM'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const ELSEWHERE = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'
]

const QUIET = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-sync',
  '--metrics-recording-only',
  '--no-first-run',
  // Containers give 64 MB of shared memory, which is too little for a page.
  '--disable-dev-shm-usage'
]

/** The path of a Chromium or Chrome: the one that the environment names, else the first on the PATH; null if there is none. */
export function findChromium(env: Readonly<Record<string, string | undefined>> = process.env): string | null {
  const named = env[CHROMIUM_VARIABLE]
  if (named !== undefined && named !== '') return isProgram(named) ? named : null
  const folders = (env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return [...NAMES.flatMap(name => folders.map(folder => join(folder, name))), ...ELSEWHERE].find(isProgram) ?? null
}

/** Arguments for a browser without background requests. Chromium's sandbox cannot work for root, so root runs without it. */
export function chromiumArguments(isRoot = process.getuid?.() === 0): readonly string[] {
  return isRoot ? [...QUIET, '--no-sandbox'] : QUIET
}

/** Options for `chromium.launch` of playwright-core. @throws Error if there is no browser */
export function chromiumLaunchOptions(): { executablePath: string; args: string[]; headless: true } {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error(`No Chromium was found. Install one, or name it in ${CHROMIUM_VARIABLE}.`)
  return { executablePath, args: [...chromiumArguments()], headless: true }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
