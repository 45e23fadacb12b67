import { whyKeysApart } from '../config/keys-apart.ts'
import type { Settings } from '../config/settings.ts'
import type { FileKeyRingDeps } from '../vault/file-key-ring.ts'
import { type Keys, openKeys } from '../vault/index.ts'
import { KeyFileRefused } from '../vault/key-file.ts'

/** The master keys that the service runs with. @throws KeyFileRefused, also if they must not be in the data directory. */
export function openServiceKeys(settings: Settings, dataDir: string, deps: FileKeyRingDeps): Keys {
  const why = whyKeysApart(settings)
  if (why !== null) throw new KeyFileRefused(why)
  return openKeys({ masterKeys: settings.masterKeys, command: settings.masterKeysCommand, dataDir, create: true }, deps)
}
