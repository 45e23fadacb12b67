/** Where a service listens for its administrators, and whether one does. */
import { lstatSync, type Stats } from 'node:fs'
import { connect } from 'node:net'
import { join, relative } from 'node:path'
import { AdminRefused } from './operations.ts'

/** What the kernels of Linux and macOS take, less one for the end. */
const PATH_BYTES_MAX = 103
const CONNECT_MS_MAX = 2_000

export function socketPathIn(dataDir: string): string {
  return join(dataDir, 'admin.sock')
}

/** The path as the kernel can take it: relative where that is shorter. @throws AdminRefused when even that is too long. */
export function bindable(path: string): string {
  const short = [path, relative(process.cwd(), path)].find(form => Buffer.byteLength(form) <= PATH_BYTES_MAX)
  if (short === undefined) throw new AdminRefused(`${path} is too long for a socket; use a data directory with a shorter path`)
  return short
}

export function statOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}

/** Whether a process listens there. @throws AdminRefused when that cannot be found out. */
export async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const socket = connect(bindable(path))
  socket.setTimeout(CONNECT_MS_MAX, () => resolve(true)) // a full queue: someone is there
  socket.once('connect', () => resolve(true))
  socket.once('error', (cause: Error & { readonly code?: string }) => {
    if (cause.code === 'ECONNREFUSED' || cause.code === 'ENOENT') resolve(false)
    else if (cause.code === 'EAGAIN') resolve(true)
    else
      reject(
        new AdminRefused(`${path} cannot be reached: ${cause.code ?? cause.message}. Run this as the user the service runs as.`, { cause })
      )
  })
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}
