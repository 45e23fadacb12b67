// The demo platform of the cluster: made by the first node, reached through the balancer.
import { join } from 'node:path'
import { DemoFile, type DemoPlatform } from '@trunkline/server/ops/demo-platform'
import type { SandboxReady } from './sandbox.ts'

/**
 * Writes the demo platform where `npm run demo -- --data-dir` and the reader find it, with what only the cluster knows: the sandbox's
 * logins. The link to the first page leads to the node that made it, because its code is valid there only. Null if there is none.
 */
export function shareDemo(dataDir: string, firstNodeUrl: string, sandbox: SandboxReady): DemoPlatform | null {
  const made = new DemoFile(join(dataDir, 'node-1', 'demo-platform.json')).read()
  if (made === null) return null
  const { pathname, search } = new URL(made.home_url)
  return demoFileOf(dataDir).write({
    ...made,
    home_url: `${firstNodeUrl}${pathname}${search}`,
    sandbox_control_url: sandbox.controlUrl,
    sandbox_logins: sandbox.logins
  })
}

export function demoFileOf(dataDir: string): DemoFile {
  return new DemoFile(join(dataDir, 'demo-platform.json'))
}
