/** The sandbox brokerage that the service starts for itself. */
import { join } from 'node:path'
import type { SandboxAccess } from '@trunkline/brokers/registry'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { Clock } from '@trunkline/core/ports/clock'
import type { Log } from '@trunkline/core/ports/log'
import type { Settings } from './config/settings.ts'
import { SandboxControl } from './operators/sandbox/control.ts'
import type { OwnSandbox as Controlled, NoSandbox } from './operators/sandbox/own.ts'
import type { Parts } from './ops/parts.ts'
import { SandboxProcess } from './ops/sandbox-process.ts'
import { callbackUrl } from './portal/callback-url.ts'

/** The sandbox's calendar; for a sandbox that runs elsewhere it must be set here too. */
export function hoursOf({ SANDBOX_CALENDAR }: NodeJS.ProcessEnv): SandboxAccess['hours'] {
  return SANDBOX_CALENDAR === 'exchange' ? 'exchange' : 'always'
}

interface OwnSandbox {
  readonly settings: Settings
  readonly dataDir: string
  readonly clientSecret: string
  /** The brokers that the sandbox serves. */
  readonly inSandbox: readonly BrokerId[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Starts the sandbox brokerage as a program of its own, which ends with the service. */
export async function startSandbox(
  { settings, dataDir, clientSecret, inSandbox, env }: OwnSandbox,
  log: Log,
  parts: Parts
): Promise<SandboxProcess> {
  const origins = settings.publicUrl === null ? ['http://127.0.0.1', 'http://localhost', 'http://[::1]'] : [settings.publicUrl]
  const options = {
    dataDir: join(dataDir, 'sandbox'),
    clientId: settings.sandboxClientId,
    clientSecret,
    redirectUris: origins.flatMap(origin => inSandbox.map(broker => callbackUrl(origin, broker, 'sandbox'))),
    env
  }
  const sandbox = await SandboxProcess.start(options, log)
  parts.add('sandbox', async () => await sandbox[Symbol.asyncDispose]())
  return sandbox
}

interface ControlledDeps {
  readonly clock: Clock
  readonly publicUrl: () => string
}

/** What operators control of it; or why nothing. */
export function controlled(
  sandbox: SandboxProcess | null,
  brokers: readonly BrokerId[],
  { clock, publicUrl }: ControlledDeps
): Controlled | NoSandbox {
  if (sandbox === null) return brokers.length > 0 ? 'elsewhere' : 'not_offered'
  const { url, controlUrl } = sandbox.ready
  const callback = (broker: BrokerId) => callbackUrl(publicUrl(), broker, 'sandbox')
  return { url, brokers, callbackUrl: callback, control: new SandboxControl({ controlUrl, isRunning: () => sandbox.isRunning, clock }) }
}
