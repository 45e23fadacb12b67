// An operator who changes something, as the use cases take operators.
import type { ServerResponse } from 'node:http'
import type { AppDeps } from '@trunkline/core/app/application'
import type { OperatorCaller as PlatformOperator, RequestOrigin } from '@trunkline/core/app/caller'
import { type OperatorCaller, operatorAudit } from '@trunkline/core/app/operators/access'
import type { OperatorEntries } from '@trunkline/core/app/operators/disabling'
import type { EndpointDeps } from '@trunkline/core/app/webhooks/endpoints'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId } from '@trunkline/core/domain/ids'
import type { WebhookPorts } from '@trunkline/core/ports/webhook-requests'

interface ActingDeps {
  readonly app: AppDeps
}

/** What one request may take to ask brokers. */
export const ASKING_MS = 30_000

/** Who does something, and from where. */
export type OperatorOrigin = RequestOrigin & Pick<OperatorCaller, 'operator'>

/** Entries of what the operator does with this request. */
export function entriesOf({ app: { clock } }: ActingDeps, caller: OperatorOrigin): OperatorEntries {
  return (...entry) => operatorAudit(clock, caller, ...entry)
}

/** The operator, acting for a platform. @throws ServiceError platform_not_found */
export async function actingFor(
  { app: { store } }: ActingDeps,
  platformId: PlatformId,
  { operator, ip, requestId }: OperatorCaller
): Promise<PlatformOperator> {
  const platform = await store.platforms.find(platformId)
  if (platform === null) throw new ServiceError('platform_not_found', 'There is no platform with this platform_id.')
  return { platform, by: operator, from: { ip, requestId } }
}

/** What the use cases of webhook endpoints stand on. */
export function endpointDeps({ app, webhooks }: ActingDeps & { readonly webhooks: WebhookPorts }): EndpointDeps {
  return { ...app, webhooks }
}

/**
 * Runs what asks brokers, for half a minute at most and no longer than somebody waits for the answer: what was not begun by then is not
 * begun. @throws what `work` throws; ServiceError broker_unavailable
 */
export async function asking<Result>(
  { app: { clock } }: ActingDeps,
  response: ServerResponse,
  work: (signal: AbortSignal) => Promise<Result>
): Promise<Result> {
  const end = new AbortController()
  const onClose = () => end.abort(new ServiceError('broker_unavailable', 'Nobody waits for the answer any more.'))
  response.once('close', onClose)
  const late = `To ask the brokers took longer than ${ASKING_MS / 1_000} s. Select fewer orders, or try again later.`
  using _limit = clock.alarm(ASKING_MS, () => end.abort(new ServiceError('broker_unavailable', late)))
  try {
    return await work(end.signal)
  } finally {
    response.off('close', onClose)
  }
}
