import { type Common, type Console, outJson } from './console.ts'
import { perform } from './operator.ts'

export async function disableUser(console: Console, platform: string, userId: string, { json }: Common): Promise<void> {
  const disabled = await perform(console, 'user.disable', { platform, userId })
  if (json) return outJson(console, wire(disabled))
  console.out(`User ${JSON.stringify(userId)} is disabled. Tokens and open links were deleted, and sessions end now. Connections stay.\n`)
}

export async function enableUser(console: Console, platform: string, userId: string, { json }: Common): Promise<void> {
  const enabled = await perform(console, 'user.enable', { platform, userId })
  if (json) return outJson(console, wire(enabled))
  console.out(`User ${JSON.stringify(userId)} is enabled again.\n`)
}

function wire({ platformId, userId, disabledAt }: { platformId: string; userId: string; disabledAt: string | null }): object {
  return { platform_id: platformId, user_id: userId, disabled_at: disabledAt }
}
