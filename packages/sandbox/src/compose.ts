/** The sandbox brokerage as it is started: the brokerage, and the dialects it serves besides its own API. */

import { type Brokerage, type BrokerageDeps, startBrokerage } from './brokerage/start.ts'
import type { SandboxConfig } from './config.ts'
import { DIALECTS } from './dialects/index.ts'

/** @throws Error as {@link startBrokerage} */
export function startSandbox(parts: Partial<SandboxConfig> = {}, deps: Partial<BrokerageDeps> = {}): Promise<Brokerage> {
  return startBrokerage(parts, deps, DIALECTS)
}
