import { isLoopback } from './loopback.ts'
import type { Settings } from './settings.ts'

type Given = Partial<Pick<Settings, 'masterKeys' | 'masterKeysCommand' | 'keysBesideData' | 'publicUrl' | 'offers'>>

/**
 * Why master keys may not be in the data directory; null if they may, or are elsewhere. They may not in production: if the public address
 * names more than this machine, or live accounts are offered.
 */
export function whyKeysApart({ masterKeys, masterKeysCommand, keysBesideData, publicUrl, offers }: Given): string | null {
  if (masterKeys != null || masterKeysCommand != null || keysBesideData === true) return null
  const live = offers?.find(offer => offer.at === 'broker' && offer.environment === 'live')
  const isPublic = publicUrl != null && !isLoopback(new URL(publicUrl).hostname)
  if (live === undefined && !isPublic) return null
  const why = isPublic ? 'TRUNKLINE_PUBLIC_URL names more than this machine' : `TRUNKLINE_BROKERS offers live accounts at ${live?.id}`
  return `${why}, and master keys would lie beside the data they protect. Give them with TRUNKLINE_MASTER_KEYS or TRUNKLINE_MASTER_KEYS_COMMAND (npm run cli -- keys generate makes one), or allow it with TRUNKLINE_ALLOW_KEYS_BESIDE_DATA=1.`
}
