/** The sandbox brokerage as it is opened: the house, and the tongues it speaks beside its own. */

import { type Brokerage, type BrokerageDeps, startBrokerage } from './brokerage/start.ts'
import type { SandboxConfig } from './config.ts'
import { DIALECTS } from './dialects/index.ts'

/** @throws Error as {@link startHouse} */
export function startSandbox(parts: Partial<SandboxConfig> = {}, deps: Partial<BrokerageDeps> = {}): Promise<Brokerage> {
  return startBrokerage(parts, deps, DIALECTS)
}
