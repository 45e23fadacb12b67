import type { DemoBroker } from './broker.ts'
import type { Platform } from './client.ts'

export interface Stage {
  readonly platform: Platform
  readonly marketUrl: string
  readonly login: { readonly username: string; readonly password: string }
  readonly broker: DemoBroker
  /** The symbol to trade, and one with so few shares on offer that an order fills partially. */
  readonly symbol: string
  readonly thin: { readonly symbol: string; readonly quantity: string }
  /** The day whose transactions are shown; null for the service's default range. */
  readonly day: string | null
  readonly print: (text: string) => void
}
