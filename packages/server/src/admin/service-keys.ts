import type { Log } from '@trunkline/core/ports/log'
import type { ConnectionStore } from '@trunkline/core/ports/store'
import { whyKeysApart } from '../config/keys-apart.ts'
import type { Settings } from '../config/settings.ts'
import type { FileKeyRingDeps } from '../vault/file-key-ring.ts'
import { type Keys, openKeys } from '../vault/index.ts'
import { KeyFileRefused } from '../vault/key-file.ts'
import { assertSameKeys, type KeyChecks } from './key-check.ts'
import { assertKeysFit } from './keys-fit.ts'
import { AdminRefused } from './operations.ts'

/** The master keys that the service runs with. @throws KeyFileRefused, also if they must not be in the data directory. */
export function openServiceKeys(settings: Settings, dataDir: string, deps: FileKeyRingDeps): Keys {
  const why = whyKeysApart(settings)
  if (why !== null) throw new KeyFileRefused(why)
  return openKeys({ masterKeys: settings.masterKeys, command: settings.masterKeysCommand, dataDir, create: true }, deps)
}

/** What the keys are compared with. */
export interface StoredSeals {
  readonly connections: Pick<ConnectionStore, 'sealedUnderOtherKeys'>
  readonly keyChecks: KeyChecks
}

/**
 * Compares the keys with what is stored, before anything is sealed with them. A start that is refused leaves no new key file, which would
 * look like the right one. @throws AdminRefused
 */
export async function assertServiceKeys(
  { ring, file }: Keys,
  { connections, keyChecks }: StoredSeals,
  { isNode, log }: { readonly isNode: boolean; readonly log: Log }
): Promise<void> {
  try {
    await assertKeysFit(connections, ring, log)
    await assertSameKeys(keyChecks, ring, isNode)
  } catch (cause) {
    if (cause instanceof AdminRefused) file?.removeCreated()
    throw cause
  }
}
