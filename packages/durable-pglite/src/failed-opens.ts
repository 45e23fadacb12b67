/**
 * Makes a failed open leave nothing behind in the engine's file system. PGlite enters a new file's name before the host creates the file,
 * and a stream before the host opens it. After one failure (no descriptors) the name would stay, and every later try would fail with "File
 * exists".
 */
import { unlinkSync } from 'node:fs'
import type { EngineModule, EngineNode } from './engine-module.ts'

/** The host calls that undo an open; tests replace them. */
export interface HostUndo {
  unlink(path: string): void
}

export function undoFailedOpens({ NODEFS, FS }: EngineModule, host: HostUndo = { unlink: unlinkSync }): void {
  const { mknod } = NODEFS.node_ops
  const { open } = NODEFS.stream_ops
  /** The file that the present open has created: the engine creates and opens in one call. */
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
      // PostgreSQL closes another file and tries again; for an exclusive create the file must not exist then.
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
    // No name was entered, and the host has no such file.
  }
}

function unlinkQuietly(host: HostUndo, path: string): void {
  try {
    host.unlink(path)
  } catch {
    // The open failed because the file is gone.
  }
}
