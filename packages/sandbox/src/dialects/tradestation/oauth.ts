/** TradeStation's identity provider: codes and refresh tokens for bearer tokens of twenty minutes, and revocation of all of a login's. */

import { type Answer, SCOPES, type Scope } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { OAuthDefinition, Tokens } from '../frame/oauth.ts'
import { accountsHere } from './account.ts'
import { json } from './answers.ts'

const AUDIENCE = 'https://api.tradestation.com'

const MEANINGS: Readonly<Record<Scope, readonly string[]>> = {
  read: ['openid', 'offline_access', 'profile', 'MarketData', 'ReadAccount', 'Matrix'],
  trade: ['Trade', 'OptionSpreads']
}

export function tradestationOAuth(brokerage: BrokerageView): OAuthDefinition {
  return {
    ...{ name: 'tradestation', broker: 'TradeStation', authorizePath: '/tradestation/authorize', clientIn: 'form', separator: ' ' },
    accounts: ({ id }) => accountsHere(brokerage.customers, id),
    scopes: Object.fromEntries(SCOPES.flatMap(scope => MEANINGS[scope].map(name => [name, scope] as const))),
    unminted: [],
    sendsRedirectUri: true,
    objection: ({ response_type: type, audience }, names) => {
      if (type !== 'code') return 'response_type must be code'
      if (audience !== AUDIENCE) return `audience must be ${AUDIENCE}`
      return names.includes('openid') ? null : 'the scope openid is required'
    },
    endpoints: { '/tradestation/oauth/token': ['authorization_code', 'refresh_token'] },
    revokePath: '/tradestation/oauth/revoke',
    accessTtlS: 1_200,
    refreshes: names => names.includes('offline_access'),
    granted,
    refusals: {
      client: () => refusal(401, 'access_denied', 'Unauthorized'),
      grantType: () => refusal(403, 'unauthorized_client', 'Grant type not allowed for the client.'),
      code: () => refusal(403, 'invalid_grant', 'Invalid authorization code'),
      refreshToken: () => refusal(403, 'invalid_grant', 'Unknown or invalid refresh token.')
    },
    problem: ({ status, message }, code) => refusal(status, code ?? (status < 500 ? 'invalid_request' : 'server_error'), message)
  }
}

/** A refresh token that goes on living is not repeated. */
function granted({ access, refresh, isNewRefresh, scope, livesS }: Tokens): Answer {
  return json({
    access_token: access,
    ...(refresh !== null && isNewRefresh ? { refresh_token: refresh } : {}),
    token_type: 'Bearer',
    scope,
    expires_in: livesS
  })
}

function refusal(status: number, error: string, description: string): Answer {
  return json({ error, error_description: description }, status)
}
