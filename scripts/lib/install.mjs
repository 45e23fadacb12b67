// Installs the locked packages when they are missing or stale. Plain JavaScript without dependencies: it runs on any Node from 20 up.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isInstalled, pinnedNode } from './installed.mjs'
import { complaintsAbout } from './lockfile.mjs'

const OUTPUT_CHARS_MAX = 64_000
const LOCK_POLL_MS = 250

const HINTS = [
  [
    /EUSAGE|can only install packages when/,
    'package.json and package-lock.json disagree. Run `npm install`, look at the difference, and commit both.'
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/,
    'The package registry cannot be reached. Check the network, the proxy, and `npm config get registry`.'
  ],
  [/E40[134]|ETARGET/, 'The package registry does not have one of the locked versions, or refuses it. Check `npm config get registry`.'],
  [
    /EINTEGRITY/,
    'A downloaded package differs from the locked one. Run `npm cache clean --force` and try again; if it still differs, do not trust it.'
  ],
  [/ENOSPC/, 'The disk is full. The packages need about 500 MB.'],
  [/EACCES|EPERM/, 'The folder cannot be written. Check who owns the checkout and its node_modules.'],
  [/ESTRICTALLOWSCRIPTS|allowScripts/, 'A package has an install script that was not reviewed. See allowScripts in package.json.']
]

/** The reason why a start fails, as a message for the user. */
export class InstallError extends Error {}

/**
 * Makes sure that the locked packages are installed, and returns the path of the pinned Node.
 * Two commands started at once install once: the second waits for the first.
 * Throws InstallError with advice if that is impossible.
 */
export async function ensureInstalled(root, print = line => process.stderr.write(`${line}\n`)) {
  if (pinnedNode(root) === null)
    throw new InstallError(
      `There is no Node for ${process.platform} ${process.arch} that Trunkline runs on: Linux and macOS on x64 and arm64, and Windows on x64.`
    )
  if (isInstalled(root)) return pinnedNode(root)
  if (!existsSync(join(root, 'package-lock.json'))) {
    throw new InstallError('package-lock.json is missing, so it is unknown which packages to install. Restore it from version control.')
  }
  const release = await acquireLock(root, print)
  try {
    if (!isInstalled(root)) await install(root, print)
  } finally {
    release()
  }
  return pinnedNode(root)
}

async function install(root, print) {
  refuseForeign(root)
  print('Installing the locked packages (once, about half a minute) …')
  const began = Date.now()
  const { code, output } = await npm(root, ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (code !== 0) throw new InstallError(explain(output))
  if (!isInstalled(root)) {
    throw new InstallError(
      `The packages were installed, but Node for ${process.platform} ${process.arch} is not among them. ` +
        'It is an optional package: `npm config get omit` must not name optional ones.'
    )
  }
  print(`Installed in ${Math.round((Date.now() - began) / 1000)} s.`)
}

/** npm fetches and runs only what was reviewed, whatever its version allows. */
function refuseForeign(root) {
  const [lock, { allowScripts = {} }] = ['package-lock.json', 'package.json'].map(file =>
    JSON.parse(readFileSync(join(root, file), 'utf8'))
  )
  const complaints = complaintsAbout(lock, Object.keys(allowScripts))
  if (complaints.length === 0) return
  const shown = complaints.slice(0, 12).map(line => `  ${line}`)
  throw new InstallError(
    ['package-lock.json has entries that were not reviewed; nothing was installed.', ...shown, 'Restore it from version control.'].join(
      '\n'
    )
  )
}

/** npm's own message, without its noise, and advice. */
export function explain(output) {
  const advice = HINTS.find(([pattern]) => pattern.test(output))?.[1] ?? 'Run `npm ci` to see the whole output.'
  const [text = ''] = output.split(/^npm error (?:Clean install a project|A complete log)/m)
  const errors = text
    .split('\n')
    .filter(line => /^npm error \S/.test(line))
    .slice(0, 12)
  return ['The packages could not be installed.', ...errors.map(line => `  ${line}`), advice].join('\n')
}

function npm(root, args) {
  const cli = process.env.npm_execpath
  const fromNpm = cli !== undefined && /^npm-cli\.c?js$/.test(basename(cli))
  const [command, first] = fromNpm ? [process.execPath, [cli]] : ['npm', []]
  return new Promise((resolve, reject) => {
    const shell = !fromNpm && process.platform === 'win32'
    const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], shell })
    let output = ''
    const keep = chunk => {
      output = (output + chunk).slice(-OUTPUT_CHARS_MAX)
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.on('error', cause =>
      reject(new InstallError('npm was not found. It comes with Node.js: install Node.js 20 or newer.', { cause }))
    )
    child.on('close', code => resolve({ code, output }))
  })
}

async function acquireLock(root, print) {
  const lock = join(root, '.cache', 'installing')
  mkdirSync(join(root, '.cache'), { recursive: true })
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return () => rmSync(lock, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw new InstallError(`The checkout cannot be written: ${error.message}`, { cause: error })
    }
    if (!isHeld(lock)) rmSync(lock, { force: true })
    else {
      if (!waited) print('Another command is installing the packages; waiting for it …')
      await delay(LOCK_POLL_MS)
    }
  }
}

function isHeld(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    if (!Number.isInteger(pid) || pid <= 0) return false
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
