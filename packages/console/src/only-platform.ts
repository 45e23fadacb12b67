// Which platform a list shows when nobody has chosen one.
import type { OperatorPlatform } from './generated/admin.ts'

/**
 * The platform that needs no choice: the only one, apart from the service's own for replays. Undefined if there are several, or none.
 */
export function onlyPlatform(platforms: readonly OperatorPlatform[]): string | undefined {
  const ofOthers = platforms.filter(({ is_for_replays: isForReplays }) => !isForReplays)
  const [only, ...more] = ofOthers.length === 0 ? platforms : ofOthers
  return more.length === 0 ? only?.platform_id : undefined
}
