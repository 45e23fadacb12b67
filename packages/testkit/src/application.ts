// The application layer as the service composes it, over any store and brokers; credentials come straight from the store.
import { type Application, application as composed } from '@trunkline/core/app/application'
import type { Deps } from '@trunkline/core/app/deps'

export type { Application } from '@trunkline/core/app/application'

export function application(deps: Deps): Application {
  const { platforms, users } = deps.store
  return composed(deps, {
    rememberedPlatform: () => undefined,
    rememberedUser: () => undefined,
    platform: clientId => platforms.findByClientId(clientId),
    user: (platformId, userId) => users.find(platformId, userId),
    admits: ({ addresses }) => addresses.length === 0
  })
}
