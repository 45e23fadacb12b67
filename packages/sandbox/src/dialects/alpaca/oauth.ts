/** Alpaca's OAuth: the code grant, with the secret in the body and tokens that do not end. */

import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Answer } from '../../house/api/outlet.ts'
import type { DialectHouse } from '../../house/dialect.ts'
import { NO_FACTS } from '../../house/faults.ts'
import { redirectAllowed } from '../../house/oauth/provider.ts'
import type { Grant, Grants } from '../frame/grants.ts'
import { type Asked, AskedWrongly, redirectUrisOf, SignIn, texts } from '../frame/sign-in.ts'
import { SCOPE_WORDS } from './access.ts'
import { numberOf } from './account.ts'
import type { Customers } from './customers.ts'
import { AlpacaProblem, CODES, invalid, jsonAnswer, problemAnswer } from './problems.ts'

const CODE_MS = 10 * 60_000

export class OAuth {
  readonly #house: DialectHouse
  readonly #grants: Grants
  readonly #signIn: SignIn

  constructor(house: DialectHouse, grants: Grants, customers: Customers) {
    this.#house = house
    this.#grants = grants
    this.#signIn = new SignIn({
      ...{ house, name: 'alpaca', authorizePath: '/alpaca/oauth/authorize' },
      broker: 'Alpaca',
      accounts: ({ id }) => [{ name: 'Account', number: numberOf(customers.accounts(id)) }],
      read: query => this.#read(query),
      code: (asked, person) => grants.code(grantOf(asked.words, person.id, house.client.id), asked.redirectUri, CODE_MS)
    })
  }

  mount(app: FastifyInstance): void {
    this.#signIn.mount(app)
    app.register(async scope => {
      await scope.register(formbody, { bodyLimit: 16 * 1024 })
      scope.post('/alpaca/oauth/token', async (request, reply) => {
        reply.hijack()
        const { faults, outlet } = this.#house
        const fault = faults.none ? undefined : faults.take('token', NO_FACTS)
        const carryOut = () => this.#token(request)
        await outlet.serve({ operation: 'token', response: reply.raw, fault, problem: problemAnswer, carryOut })
      })
    })
  }

  /** A grant without the walk through a browser. */
  mint(login: string, words: string): { readonly token: string; readonly scope: string } {
    return this.#issue(this.#grants.open(grantOf(words, login, this.#house.client.id)))
  }

  #read(query: Readonly<Record<string, string>>): Asked {
    const { client } = this.#house
    if (query.client_id !== client.id) throw new AskedWrongly('the application is not known here: client_id')
    const { redirect_uri: redirectUri = '' } = query
    if (!redirectAllowed(redirectUri, redirectUrisOf(this.#house, 'alpaca')))
      throw new AskedWrongly('redirect_uri is not one of the registered addresses')
    if (query.response_type !== 'code') throw new AskedWrongly('response_type must be code')
    const { env } = query
    if (env !== undefined && env !== 'live' && env !== 'paper') throw new AskedWrongly('env is live or paper')
    const words = (query.scope ?? '').split(' ').filter(word => word !== '')
    const unknown = words.find(word => SCOPE_WORDS[word] === undefined)
    if (unknown !== undefined) throw new AskedWrongly(`no scope ${unknown.slice(0, 40)}; there are ${Object.keys(SCOPE_WORDS).join(', ')}`)
    const scopes = words.includes('trading') ? (['read', 'trade'] as const) : (['read'] as const)
    return { redirectUri, state: query.state ?? null, scopes, words: words.join(' '), more: {} }
  }

  #token(request: FastifyRequest): Answer {
    try {
      const form = texts(request.body)
      const { client } = this.#house
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
    return { token: this.#grants.issue(grant, 'access', this.#house.oauth().accessTtlS).token, scope: grant.words }
  }
}

function grantOf(words: string, login: string, client: string): Omit<Grant, 'id'> {
  const scopes = words.split(' ').flatMap(word => SCOPE_WORDS[word] ?? [])
  return { login, client, scopes: ['read', ...scopes], words }
}
