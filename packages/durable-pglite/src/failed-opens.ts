/**
 * Makes a failed open leave nothing behind in the engine's file system. PGlite enters a new file's name before the host creates the file, and a
 * stream before the host opens it. After one failure (the process was out of descriptors) the name stays, and every later try fails with "File exists".
 */
import { unlinkSync } from 'node:fs'
import type { EngineModule, EngineNode } from './engine-module.ts'

/** The host calls that are undone with; tests replace them. */
export interface HostUndo {
  unlink(path: string): void
}

export function undoFailedOpens({ NODEFS, FS }: EngineModule, host: HostUndo = { unlink: unlinkSync }): void {
  const { mknod } = NODEFS.node_ops
  const { open } = NODEFS.stream_ops
  /** The file that the open under way has created: the engine creates and opens in one call. */
  let created: EngineNode | null = null

  NODEFS.node_ops.mknod = (parent, name, mode, device) => {
    created = null
    try {
      const node = mknod(parent, name, mode, device)
      created = node
      return node
    } catch (error) {
      forget(FS, parent, name)
      throw error
    }
  }
  NODEFS.stream_ops.open = stream => {
    const isNew = created === stream.node && FS.isFile(stream.node.mode)
    created = null
    try {
      open(stream)
    } catch (error) {
      FS.closeStream(stream.fd)
      // PostgreSQL closes a file of its own and tries again; for an exclusive create the file must not be there then.
      if (isNew) {
        unlinkQuietly(host, NODEFS.realPath(stream.node))
        FS.destroyNode(stream.node)
      }
      throw error
    }
  }
}

/** Removes the name that the failed create entered, if it did. */
function forget(FS: EngineModule['FS'], parent: EngineNode, name: string): void {
  try {
    FS.destroyNode(FS.lookupNode(parent, name))
  } catch {
    // It was not entered, and the host has no such file.
  }
}

function unlinkQuietly(host: HostUndo, path: string): void {
  try {
    host.unlink(path)
  } catch {
    // The open failed because the file is gone.
  }
}
