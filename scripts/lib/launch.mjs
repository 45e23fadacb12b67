// Starts a program on the pinned Node, so that its exit code, signals and output are those of the command.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureInstalled, InstallError } from './install.mjs'

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** Installs what is missing, then runs `file` (relative to the checkout) with `args` on the pinned Node in place of this process. */
export async function launch(file, args) {
  try {
    const node = await ensureInstalled(ROOT)
    // With a compile cache, programs start in two thirds of the time, and so do those that they start.
    process.env.NODE_COMPILE_CACHE ??= resolve(ROOT, '.cache', 'compiled')
    replaceBy(node, [resolve(ROOT, file), ...args])
  } catch (error) {
    if (!(error instanceof InstallError)) throw error
    process.stderr.write(`\n${error.message}\n`)
    process.exitCode = 1
  }
}

/** Becomes `node args`. A Node that cannot replace itself (before 22.15, or on Windows) stays as the parent and exits as its child does. */
export function replaceBy(node, args) {
  if (process.platform !== 'win32' && typeof process.execve === 'function') return process.execve(node, [node, ...args], process.env)
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => relay(child, signal))
  endWithParent(child)
  child.on('error', error => {
    process.stderr.write(`${node} could not be started: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

// npm passes a signal to its shell, which dies of it and does not pass it on.
function endWithParent(child) {
  if (process.platform === 'win32' || process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const look = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(look)
    child.kill('SIGTERM')
  }, 1_000)
  look.unref()
}

// A terminal sends Ctrl-C and its hang-up to the whole process group: the child has it already, and a second one would mean "at once".
function relay(child, signal) {
  if (signal === 'SIGTERM' || process.stdin.isTTY !== true) child.kill(signal)
}
