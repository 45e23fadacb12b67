/** The path of the administration socket, and whether a service listens on it. */
import { lstatSync, type Stats } from 'node:fs'
import { connect } from 'node:net'
import { join, relative } from 'node:path'
import { AdminRefused } from './operations.ts'

/** The limit of macOS (104 bytes, Linux: 108), less one for the terminating zero. */
const PATH_BYTES_MAX = 103
const CONNECT_MS_MAX = 2_000

export function socketPathIn(dataDir: string): string {
  return join(dataDir, 'admin.sock')
}

/** The path, or its relative form if the path is too long for a socket. @throws AdminRefused if both are too long. */
export function bindable(path: string): string {
  const short = [path, relative(process.cwd(), path)].find(form => Buffer.byteLength(form) <= PATH_BYTES_MAX)
  if (short === undefined) throw new AdminRefused(`${path} is too long for a socket; use a data directory with a shorter path`)
  return short
}

export function statOf(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}

/** Whether a process listens on the socket. @throws AdminRefused if this cannot be determined. */
export async function isAnswered(path: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const socket = connect(bindable(path))
  socket.setTimeout(CONNECT_MS_MAX, () => resolve(true)) // the backlog is full, so a process listens
  socket.once('connect', () => resolve(true))
  socket.once('error', (cause: Error & { readonly code?: string }) => {
    if (cause.code === 'ECONNREFUSED' || cause.code === 'ENOENT') resolve(false)
    else if (cause.code === 'EAGAIN') resolve(true)
    else
      reject(
        new AdminRefused(`${path} cannot be reached: ${cause.code ?? cause.message}. Run this as the user that runs the service.`, {
          cause
        })
      )
  })
  try {
    return await promise
  } finally {
    socket.destroy()
  }
}
