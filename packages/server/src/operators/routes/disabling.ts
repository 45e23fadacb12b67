import { setPlatformDisabled, setUserDisabled } from '@trunkline/core/app/operators/disabling'
import { ServiceError } from '@trunkline/core/domain/errors'
import type { PlatformId, UserKey } from '@trunkline/core/domain/ids'
import { uuidInPath } from '../../http/params.ts'
import { entriesOf } from '../acting.ts'
import type { OperatorDeps } from '../deps.ts'
import { type Operation, operation } from '../endpoint.ts'
import { platformRow, presentPlatform, presentUser, userRow } from '../records.ts'
import { replayPlatformId } from '../replay/practice.ts'

const shared = { scope: 'manage', tag: 'Platforms', method: 'POST' } as const
const ofPlatform = { params: { platform_id: uuidInPath<PlatformId>('The platform.') }, failures: ['platform_not_found'] } as const
const ofUser = { params: { user_key: uuidInPath<UserKey>('The user.') }, failures: ['user_not_found'] } as const

export const DISABLING: readonly Operation[] = [
  operation({
    ...shared,
    ...ofPlatform,
    path: '/platforms/:platform_id/disable',
    operationId: 'disablePlatform',
    summary: 'Disable a platform',
    description: `Locks the platform out at once: all its keys and sessions end, and all market data tokens and open links of its users. Its webhook endpoints
are sent nothing meanwhile. Orders at brokers stay there and are followed. A repetition does the same again, as of now; of two at once, with \`enable\` too,
the later one stands.`,
    success: { status: 200, description: 'The platform as it is now.', schema: platformRow },
    handle: ({ caller, path }, deps) => changed(deps, path.platform_id, () => disable(deps, path.platform_id, true, caller))
  }),
  operation({
    ...shared,
    ...ofPlatform,
    path: '/platforms/:platform_id/enable',
    operationId: 'enablePlatform',
    summary: 'Enable a platform',
    description: `Its keys work again, except those that are disabled themselves. Sessions, tokens and links that ended do not come back. A repetition changes
nothing. Of two at once, with \`disable\` too, the later one stands.`,
    success: { status: 200, description: 'The platform as it is now.', schema: platformRow },
    handle: ({ caller, path }, deps) => changed(deps, path.platform_id, () => disable(deps, path.platform_id, false, caller))
  }),
  operation({
    ...shared,
    ...ofUser,
    path: '/users/:user_key/disable',
    operationId: 'disableUser',
    summary: 'Disable a user',
    description: `The platform can read and do nothing for the user: sessions end, and market data tokens and open links. Connections stay, and the user’s
accounts are still followed. A repetition does the same again; of two at once, with \`enable\` too, the later one stands.`,
    success: { status: 200, description: 'The user as it is now.', schema: userRow },
    handle: ({ caller, path }, deps) => changedUser(deps, path.user_key, () => disableUser(deps, path.user_key, true, caller))
  }),
  operation({
    ...shared,
    ...ofUser,
    path: '/users/:user_key/enable',
    operationId: 'enableUser',
    summary: 'Enable a user',
    description: `The user’s secret works again. Sessions, tokens and links that ended do not come back. A repetition changes nothing. Of two at once, with
\`disable\` too, the later one stands.`,
    success: { status: 200, description: 'The user as it is now.', schema: userRow },
    handle: ({ caller, path }, deps) => changedUser(deps, path.user_key, () => disableUser(deps, path.user_key, false, caller))
  })
]

type Caller = Parameters<typeof entriesOf>[1]

function disable(deps: OperatorDeps, platformId: PlatformId, isDisabled: boolean, caller: Caller) {
  return setPlatformDisabled(deps.app, platformId, isDisabled, entriesOf(deps, caller))
}

function disableUser(deps: OperatorDeps, userKey: UserKey, isDisabled: boolean, caller: Caller) {
  return setUserDisabled(deps.app, userKey, isDisabled, entriesOf(deps, caller))
}

/** The record after the change: another operator's may have come meanwhile. */
async function changed({ app: { store, hasher } }: OperatorDeps, platformId: PlatformId, change: () => Promise<unknown>) {
  await change()
  const [platform, disabled] = await Promise.all([store.platforms.find(platformId), store.platforms.disabled()])
  if (platform === null) throw new ServiceError('platform_not_found', 'There is no platform with this platform_id.')
  return presentPlatform(platform, disabled.get(platformId) ?? null, platformId === replayPlatformId(hasher))
}

async function changedUser({ app: { store } }: OperatorDeps, userKey: UserKey, change: () => Promise<unknown>) {
  await change()
  const [user, enabled] = await Promise.all([store.users.findByKey(userKey), store.users.enabledOf([userKey])])
  if (user === null) throw new ServiceError('user_not_found', 'The user was deleted just now.')
  return presentUser(user, !enabled.has(userKey))
}
