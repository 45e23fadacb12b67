import type { AppDeps } from '@trunkline/core/app/application'
import type { PlatformCaller } from '@trunkline/core/app/caller'
import { readEvents, type Stretch } from '@trunkline/core/app/events/read-events'
import { brokerList, presentBroker } from '../../wire/broker.ts'
import { eventPage, updateBytes } from '../../wire/update.ts'
import { platformEndpoint } from '../endpoint.ts'
import { integer, required, userIdParam } from '../params.ts'
import { Rendered } from '../rendered.ts'

const LIMIT = { minimum: 1, maximum: 1_000, fallback: 100 }
/** A page ends early with the update that brings it to this size or above. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024

const query = {
  user_id: required({ ...userIdParam, description: 'The user whose updates are read.' }),
  after: integer(
    { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, fallback: 0 },
    'Only updates with a higher `seq`. Send the newest `seq` that you have, or the `next_after` of the previous page.'
  ),
  limit: integer(LIMIT, 'Maximum number of updates on a page.')
}

export const getEvents = platformEndpoint({
  method: 'GET',
  path: '/events',
  scope: 'read',
  operationId: 'listEvents',
  tag: 'Events',
  summary: 'List a user’s updates',
  description: `The log behind the broker stream: every change of an order, a position or a balance of the user, exactly as the stream sends it, in
the order in which it was applied. \`seq\` counts a user’s updates from 1 without a gap, so a platform that stores its newest \`seq\` can verify that it
missed nothing. When a request is answered, the changes that it made are already in the log. Updates of deleted connections stay.

Continue with \`next_after\` until it is null. A page may end early, after about 4 MiB. Updates are kept for a number of days (30 unless the operator
configures another). If \`after\` is less than \`oldest_seq\` minus 1, the updates in between are gone: note \`last_seq\`, read orders, positions and
balances, and continue from that \`last_seq\`.`,
  failures: ['user_not_found'],
  query,
  success: { status: 200, description: 'One page of updates.', schema: eventPage },
  async handle({ caller, query: { user_id: userId, after = 0, limit = LIMIT.fallback } }, { deps }) {
    return new Rendered(await pageBytes(deps, caller, { userId, after, limit }))
  }
})

/** One page as JSON bytes. @throws ServiceError user_not_found */
export async function pageBytes(deps: Pick<AppDeps, 'store'>, caller: PlatformCaller, stretch: Stretch): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  const { oldest, last, taken } = await readEvents(deps, caller, stretch, (event, user) => {
    const bytes = updateBytes(event, user.userId)
    parts.push(parts.length === 0 ? OPENING : COMMA, bytes)
    size += bytes.byteLength
    return size < ANSWER_BYTES_MAX
  })
  if (parts.length === 0) parts.push(OPENING)
  const next = taken !== null && taken < last ? taken : null
  parts.push(Buffer.from(`],"next_after":${next},"oldest_seq":${oldest},"last_seq":${last}}`))
  return Buffer.concat(parts)
}

const OPENING = Buffer.from('{"data":[')
const COMMA = Buffer.from(',')

export const getBrokers = platformEndpoint({
  method: 'GET',
  path: '/brokers',
  scope: 'read',
  operationId: 'listBrokers',
  tag: 'Brokers',
  summary: 'List brokers and their capabilities',
  success: { status: 200, description: 'The brokers that users can connect.', schema: brokerList },
  async handle(_call, { deps }) {
    return [...deps.brokers.values()].map(presentBroker)
  }
})
