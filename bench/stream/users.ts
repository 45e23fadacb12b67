import { AdminClient } from '../../packages/server/src/admin/client.ts'
import { Client, type Platform, textOf } from '../../packages/server/src/demo/client.ts'
import { connect } from '../../packages/server/src/ops/form-browser.ts'
import type { RunningService } from '../harness/service.ts'
import { userName } from './client/update.ts'

const AT_ONCE = 8

/** Creates platforms like the operator: through the running service's administration. */
export async function makePlatforms({ dataDir, platform: { baseUrl } }: RunningService, count: number): Promise<readonly Platform[]> {
  const admin = await AdminClient.connect(dataDir)
  if (admin === null) throw new Error('nobody answers at the administration of the service')
  const run = { by: 'benchmark', signal: AbortSignal.timeout(60_000), progress: () => undefined }
  const platforms: Platform[] = []
  for (let number = 0; number < count; number += 1) {
    const { clientId, clientSecret } = await admin.perform(
      'platform.create',
      { name: `platform ${number}`, redirects: [], claims: false },
      run
    )
    platforms.push({ baseUrl, clientId, clientSecret })
  }
  return platforms
}

/** Creates users by number, without a broker. */
export async function makeUsers(platformOf: (number: number) => Platform, count: number): Promise<void> {
  await inParallel(count, async number => {
    await new Client(platformOf(number)).post('/users', { user_id: userName(number) })
  })
}

/** Creates users by number, each with a connection to the test sandbox, by the portal. */
export async function connectUsers(platform: Platform, count: number): Promise<void> {
  await inParallel(count, async number => {
    const userId = userName(number)
    const { 'user-secret': secret } = await new Client(platform).post('/users', { user_id: userId })
    const client = new Client(platform, { userId, userSecret: String(secret) })
    const link = textOf(await client.post('/connections', { connection_type: 'trade', broker: 'SANDBOX' }), 'authorization_url')
    // The sandbox admits everyone and asks for no name.
    const outcome = await connect(link, 'SANDBOX', { username: userId, password: '' })
    if (!/connected/i.test(outcome)) throw new Error(`${userId} could not be connected: ${outcome}`)
  })
}

async function inParallel(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) {
      const number = next
      next += 1
      await work(number)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}
