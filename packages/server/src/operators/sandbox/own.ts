// The sandbox of this service, if it started one, and changes to it by operators.
import type { AppDeps } from '@trunkline/core/app/application'
import { type OperatorCaller, operatorAudit } from '@trunkline/core/app/operators/access'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { BrokerId } from '@trunkline/core/domain/ids'
import type { AuditEntry } from '@trunkline/core/ports/store'
import type { Static, TSchema } from 'typebox'
import { type ControlRequest, type SandboxControl, SandboxRefusal } from './control.ts'

/** `elsewhere`: it runs, and another program started it; `not_offered`: no broker is in the sandbox, so none was started. */
export type NoSandbox = 'elsewhere' | 'not_offered'

export interface OwnSandbox {
  readonly url: string
  readonly control: SandboxControl
  /** The brokers whose requests go there, and nowhere else. */
  readonly brokers: readonly BrokerId[]
  /** The redirect URI of a broker there. */
  readonly callbackUrl: (broker: BrokerId) => string
}

/** What controlling it stands on. */
export interface SandboxDeps {
  readonly sandbox: OwnSandbox | NoSandbox
  readonly app: Pick<AppDeps, 'clock' | 'store'>
}

const ABSENT = {
  elsewhere:
    'This service did not start the sandbox that it uses (TRUNKLINE_SANDBOX_URL), so it does not control it. Use the control API of that sandbox, on its machine.',
  not_offered:
    'This service has started no sandbox, because it offers no broker there. Offer SANDBOX (TRUNKLINE_BROKERS), and start the service again.'
} as const satisfies Record<NoSandbox, string>

/** @throws ServiceError sandbox_absent */
export function ownSandbox({ sandbox }: Pick<SandboxDeps, 'sandbox'>): OwnSandbox {
  if (typeof sandbox === 'string') throw new ServiceError('sandbox_absent', ABSENT[sandbox])
  return sandbox
}

/** @throws ServiceError sandbox_absent, sandbox_refused, sandbox_unavailable */
export async function askSandbox<Answer extends TSchema>(deps: SandboxDeps, request: ControlRequest<Answer>): Promise<Static<Answer>> {
  return await ownSandbox(deps).control.ask(request)
}

/** What the audit log says of a change. */
export interface Change {
  readonly action: `sandbox.${string}`
  readonly target: string
  readonly detail?: AuditEntry['detail']
}

/**
 * Makes a change at the sandbox. It is on record before it is sent, since the sandbox is another program; a refusal, or an answer that did
 * not come, is a second entry.
 * @throws ServiceError sandbox_absent, sandbox_refused, sandbox_unavailable
 */
export async function changeSandbox<Answer extends TSchema>(
  deps: SandboxDeps,
  caller: OperatorCaller,
  { action, target, detail = {} }: Change,
  request: ControlRequest<Answer>
): Promise<Static<Answer>> {
  const { control } = ownSandbox(deps)
  const { clock, store } = deps.app
  await store.audit.append(operatorAudit(clock, caller, action, target, detail))
  try {
    return await control.ask(request)
  } catch (cause) {
    const result = cause instanceof SandboxRefusal ? 'refused' : 'failed'
    await store.audit.append({ ...operatorAudit(clock, caller, action, target, detail), result })
    throw cause
  }
}
