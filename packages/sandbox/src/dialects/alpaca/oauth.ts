/** Alpaca's OAuth: the code grant, with the secret in the body and tokens that do not end. */

import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Answer, NO_FACTS, redirectAllowed } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import type { Grant, Grants } from '../frame/grants.ts'
import { type AuthorizationRequest, InvalidAuthorizationRequest, redirectUrisOf, SignIn, texts } from '../frame/sign-in.ts'
import { SCOPES_OF } from './access.ts'
import { numberOf } from './account.ts'
import type { CustomerView } from './customer-view.ts'
import { AlpacaProblem, CODES, invalid, jsonAnswer, problemAnswer } from './problems.ts'

const CODE_MS = 10 * 60_000

export class OAuth {
  readonly #brokerage: BrokerageView
  readonly #grants: Grants
  readonly #signIn: SignIn

  constructor(brokerage: BrokerageView, grants: Grants, customerView: CustomerView) {
    this.#brokerage = brokerage
    this.#grants = grants
    this.#signIn = new SignIn({
      ...{ brokerage, name: 'alpaca', authorizePath: '/alpaca/oauth/authorize' },
      broker: 'Alpaca',
      accounts: ({ id }) => [{ name: 'Account', number: numberOf(customerView.accounts(id)) }],
      read: query => this.#read(query),
      code: ({ brokerScope, redirectUri }, customer) =>
        grants.code(grantOf(brokerScope, customer.id, brokerage.client.id), redirectUri, CODE_MS)
    })
  }

  mount(app: FastifyInstance): void {
    this.#signIn.mount(app)
    app.register(async scope => {
      await scope.register(formbody, { bodyLimit: 16 * 1024 })
      scope.post('/alpaca/oauth/token', async (request, reply) => {
        reply.hijack()
        const { faults, responseWriter } = this.#brokerage
        const fault = faults.none ? undefined : faults.take('token', NO_FACTS)
        const carryOut = () => this.#token(request)
        await responseWriter.serve({ operation: 'token', response: reply.raw, fault, problem: problemAnswer, carryOut })
      })
    })
  }

  /** A grant without the browser flow. */
  mint(login: string, brokerScope: string): { readonly token: string; readonly scope: string } {
    return this.#issue(this.#grants.open(grantOf(brokerScope, login, this.#brokerage.client.id)))
  }

  #read(query: Readonly<Record<string, string>>): AuthorizationRequest {
    const { client } = this.#brokerage
    if (query.client_id !== client.id) throw new InvalidAuthorizationRequest('the application is not known here: client_id')
    const { redirect_uri: redirectUri = '' } = query
    if (!redirectAllowed(redirectUri, redirectUrisOf(this.#brokerage, 'alpaca')))
      throw new InvalidAuthorizationRequest('redirect_uri is not one of the registered addresses')
    if (query.response_type !== 'code') throw new InvalidAuthorizationRequest('response_type must be code')
    const { env } = query
    if (env !== undefined && env !== 'live' && env !== 'paper') throw new InvalidAuthorizationRequest('env is live or paper')
    const names = (query.scope ?? '').split(' ').filter(name => name !== '')
    const unknown = names.find(name => SCOPES_OF[name] === undefined)
    if (unknown !== undefined)
      throw new InvalidAuthorizationRequest(`no scope ${unknown.slice(0, 40)}; there are ${Object.keys(SCOPES_OF).join(', ')}`)
    const scopes = names.includes('trading') ? (['read', 'trade'] as const) : (['read'] as const)
    return { redirectUri, state: query.state ?? null, scopes, brokerScope: names.join(' '), more: {} }
  }

  #token(request: FastifyRequest): Answer {
    try {
      const form = texts(request.body)
      const { client } = this.#brokerage
      if (form.client_id !== client.id || form.client_secret !== client.secret)
        throw new AlpacaProblem(401, CODES.unauthorized, 'client authentication failed')
      if (form.grant_type !== 'authorization_code') throw invalid('grant_type must be authorization_code')
      const grant = this.#grants.exchange(form.code ?? '', form.redirect_uri ?? null)
      if (grant === null) throw invalid('the code is invalid, has been used, or was given for another redirect_uri')
      const { token, scope } = this.#issue(grant)
      return jsonAnswer({ access_token: token, token_type: 'bearer', scope })
    } catch (error) {
      if (error instanceof AlpacaProblem) return problemAnswer(error, null)
      throw error
    }
  }

  #issue(grant: Grant): { readonly token: string; readonly scope: string } {
    // Alpaca's tokens do not end; the control API may have them end all the same.
    return { token: this.#grants.issue(grant, 'access', this.#brokerage.oauth().accessTtlS).token, scope: grant.words }
  }
}

function grantOf(brokerScope: string, login: string, client: string): Omit<Grant, 'id'> {
  const scopes = brokerScope.split(' ').flatMap(name => SCOPES_OF[name] ?? [])
  return { login, client, scopes: ['read', ...scopes], words: brokerScope }
}
