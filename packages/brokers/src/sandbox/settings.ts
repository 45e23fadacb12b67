import type { BrokerSettings } from '../kit/settings.ts'

export interface SandboxSettings {
  /** Where the sandbox is reached, without a trailing slash. Plain `http:` is allowed: it runs beside us. */
  readonly baseUrl: string
  /** The origin that browsers see, where it differs. */
  readonly publicUrl?: string
  readonly clientId: string
  readonly clientSecret: string
}

/** No own settings: the sandbox's address and our client there hold for every broker that it stands in for. */
export const SANDBOX_SETTINGS: BrokerSettings<SandboxSettings, Readonly<Record<never, never>>> = {
  table: {},
  choose: () => ({ at: 'sandbox', settings: ({ url, ...rest }) => ({ baseUrl: url, ...rest }) })
}
