// Locking a platform or a user out, and letting them in again.
import type { ReactNode } from 'react'
import { change } from '../api.ts'
import type { OperatorPlatform, OperatorUser } from '../generated/admin.ts'
import { Action } from './action.tsx'

/** For a platform, whichever of both it needs. */
export function PlatformSwitch({ platform }: { readonly platform: OperatorPlatform }): ReactNode {
  const { platform_id, name, disabled_at: disabledAt } = platform
  const done = ({ disabled_at: at }: OperatorPlatform) => <p>{at === null ? `${name} is enabled.` : `${name} is disabled.`}</p>
  if (disabledAt === null)
    return (
      <Action
        label="Disable"
        title={`Disable the platform ${name}`}
        effect="All its keys and sessions end at once, with all market data tokens and open links of its users; orders at brokers stay there."
        request={() => change('POST /platforms/{platform_id}/disable', { platform_id }, undefined)}
        done={done}
      />
    )
  return (
    <Action
      label="Enable"
      title={`Enable the platform ${name}`}
      effect="Its keys work again; sessions, tokens and links that ended do not come back."
      request={() => change('POST /platforms/{platform_id}/enable', { platform_id }, undefined)}
      done={done}
    />
  )
}

/** For a user, whichever of both is needed. */
export function UserSwitch({ user }: { readonly user: OperatorUser }): ReactNode {
  const { user_key, user_id: name, is_disabled: isDisabled } = user
  const done = ({ is_disabled: is }: OperatorUser) => <p>{is ? `${name} is disabled.` : `${name} is enabled.`}</p>
  if (isDisabled)
    return (
      <Action
        label="Enable"
        title={`Enable the user ${name}`}
        effect="The user’s secret works again; sessions, tokens and links that ended do not come back."
        request={() => change('POST /users/{user_key}/enable', { user_key }, undefined)}
        done={done}
      />
    )
  return (
    <Action
      label="Disable"
      title={`Disable the user ${name}`}
      effect="The platform can do nothing for the user: sessions end, and tokens and open links; connections and orders stay and are followed."
      request={() => change('POST /users/{user_key}/disable', { user_key }, undefined)}
      done={done}
    />
  )
}
