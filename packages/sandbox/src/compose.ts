/** The sandbox brokerage as it is opened: the house, and the tongues it speaks beside its own. */

import type { HouseConfig } from './config.ts'
import { DIALECTS } from './dialects/index.ts'
import { type House, type HouseDeps, startHouse } from './house/start.ts'

/** @throws Error as {@link startHouse} */
export function startSandbox(parts: Partial<HouseConfig> = {}, deps: Partial<HouseDeps> = {}): Promise<House> {
  return startHouse(parts, deps, DIALECTS)
}
