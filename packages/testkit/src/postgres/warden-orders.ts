import type { RunAs } from './binaries.ts'

/** The warden's input, as JSON in its only argument. */
export interface WardenOrders {
  readonly program: string
  readonly args: readonly string[]
  readonly runAs: RunAs
  readonly scratch: string
}
