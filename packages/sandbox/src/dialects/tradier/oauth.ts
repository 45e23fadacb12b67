/** OAuth at Tradier: one callback that is registered, scopes with commas, and two endpoints for tokens. */

import { type Answer, isoOf } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { OAuthDefinition } from '../frame/oauth.ts'
import { Accounts, numberOf } from './accounts.ts'
import { faultAnswer, jsonAnswer, problemAnswer } from './answers.ts'
import { BASE } from './protocol.ts'

export const NAME = 'tradier'

export function tradierOAuth(brokerage: BrokerageView, accessTtlS: number): OAuthDefinition {
  return {
    ...{ name: NAME, broker: 'Tradier', authorizePath: `${BASE}/oauth/authorize`, clientIn: 'basic', separator: ',' },
    accounts: ({ id }) => new Accounts(brokerage).of(id).map(account => ({ ...account, number: numberOf(account) })),
    scopes: { read: 'read', write: 'trade', trade: 'trade', market: 'read', stream: 'read' },
    unminted: ['write'],
    sendsRedirectUri: false,
    objection: ({ state }, names) => {
      if (state === undefined) return 'state is missing'
      return names.length === 0 ? 'scope is missing' : null
    },
    endpoints: {
      [`${BASE}/oauth/accesstoken`]: ['authorization_code'],
      [`${BASE}/oauth/refreshtoken`]: ['refresh_token']
    },
    accessTtlS,
    refreshes: () => true,
    granted: ({ access, livesS, scope, refresh }) =>
      jsonAnswer(200, {
        access_token: access,
        expires_in: livesS,
        issued_at: isoOf(brokerage.realNow() * 1000),
        scope,
        status: 'approved',
        refresh_token: refresh
      }),
    refusals: {
      client: () => faultAnswer(401, 'Invalid client identifier', 'oauth.v2.InvalidClientIdentifier'),
      grantType: ({ grant_type: type = '' }) => wrongGrantType(type),
      code: () => faultAnswer(400, 'Invalid Authorization Code', 'keymanagement.service.invalid_request-authorization_code_invalid'),
      refreshToken: () => faultAnswer(401, 'Invalid Refresh Token', 'keymanagement.service.invalid_refresh_token')
    },
    problem: problemAnswer
  }
}

function wrongGrantType(type: string): Answer {
  return faultAnswer(400, `Unsupported grant type : ${type.slice(0, 40)}`, 'oauth.v2.UnsupportedGrantType')
}
