/** Alpaca's OAuth: the code grant, with the secret in the body and tokens that do not end. */

import type { OAuthDefinition } from '../frame/oauth.ts'
import { AlpacaProblem, invalid, jsonAnswer, problemAnswer } from './answers.ts'
import type { CustomerView } from './customer-view.ts'

export function alpacaOAuth(view: CustomerView): OAuthDefinition {
  const refusal = (message: string) => () => problemAnswer(invalid(message), null)
  return {
    ...{ name: 'alpaca', broker: 'Alpaca', authorizePath: '/alpaca/oauth/authorize', clientIn: 'form', separator: ' ' },
    accounts: ({ id }) => [{ name: 'Account', number: view.number(id) }],
    // Reading the account needs none of them.
    scopes: { trading: 'trade', data: 'read' },
    unminted: [],
    sendsRedirectUri: true,
    objection: ({ response_type: type, env = 'live' }) => {
      if (type !== 'code') return 'response_type must be code'
      return env === 'live' || env === 'paper' ? null : 'env is live or paper'
    },
    endpoints: { '/alpaca/oauth/token': ['authorization_code'] },
    accessTtlS: null,
    refreshes: () => false,
    granted: ({ access, scope }) => jsonAnswer({ access_token: access, token_type: 'bearer', scope }),
    refusals: {
      client: () => problemAnswer(new AlpacaProblem(401, 40110000, 'client authentication failed'), null),
      grantType: refusal('grant_type must be authorization_code'),
      code: refusal('the code is invalid, has been used, or was given for another redirect_uri'),
      refreshToken: refusal('there are no refresh tokens')
    },
    problem: problemAnswer
  }
}
