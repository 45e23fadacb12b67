/** Secrets at rest: envelope encryption under master keys that come from a file or from the environment. */
import { join } from 'node:path'
import { FileKeyRing, type FileKeyRingDeps } from './file-key-ring.ts'
import { keysFromCommand } from './key-command.ts'
import { FixedKeyRing, type KeyRing, parseKeySet } from './master-keys.ts'

/** The master keys in force, and the file they can be rotated in; null when the environment gives them. */
export interface Keys {
  readonly ring: KeyRing
  readonly file: FileKeyRing | null
}

export function keyFileIn(dataDir: string): string {
  return join(dataDir, 'master-keys')
}

export interface KeySource {
  readonly masterKeys: string | null
  /** The command that prints them; takes precedence over `masterKeys`. */
  readonly command?: string | null
  readonly dataDir: string
  /** Whether to create the file at the first start. */
  readonly create: boolean
}

/** @throws KeyFileRefused, or Error if the text is not a list of master keys. */
export function openKeys({ masterKeys, command = null, dataDir, create }: KeySource, deps: FileKeyRingDeps): Keys {
  if (command !== null) return { ring: new FixedKeyRing(keysFromCommand(command)), file: null }
  if (masterKeys !== null) return { ring: new FixedKeyRing(parseKeySet(masterKeys)), file: null }
  const path = keyFileIn(dataDir)
  const file = create ? FileKeyRing.openOrCreate(path, deps) : new FileKeyRing(path, deps)
  return { ring: file, file }
}
