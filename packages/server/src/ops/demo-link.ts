import type { DemoPlatform } from './demo-platform.ts'
import { DemoUser, textIn } from './demo-user.ts'

const USER_ID = 'first-user'

/** A portal link for a new user, ready to click. Null if the API refuses or is being stopped: the link is optional. */
export async function demoLink(demo: DemoPlatform): Promise<string | null> {
  try {
    const user = await DemoUser.of(demo, USER_ID)
    return textIn(await user?.call('POST', '/connections', { connection_type: 'trade' }), 'authorization_url')
  } catch {
    return null
  }
}
