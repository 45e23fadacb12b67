/** Secrets at rest: envelope encryption under master keys that come from a file or from the environment. */
import { join } from 'node:path'
import { FileKeyRing, type FileKeyRingDeps } from './file-key-ring.ts'
import { FixedKeyRing, type KeyRing, parseKeySet } from './master-keys.ts'

/** The master keys in force, and the file they can be rotated in; null when the environment gives them. */
export interface Keys {
  readonly ring: KeyRing
  readonly file: FileKeyRing | null
}

export function keyFileIn(dataDir: string): string {
  return join(dataDir, 'master-keys')
}

/** @throws KeyFileRefused, or Error when the given text is not one of master keys. */
export function openKeys(
  { masterKeys, dataDir, create }: { readonly masterKeys: string | null; readonly dataDir: string; readonly create: boolean },
  deps: FileKeyRingDeps
): Keys {
  if (masterKeys !== null) return { ring: new FixedKeyRing(parseKeySet(masterKeys)), file: null }
  const path = keyFileIn(dataDir)
  const file = create ? FileKeyRing.openOrCreate(path, deps) : new FileKeyRing(path, deps)
  return { ring: file, file }
}
